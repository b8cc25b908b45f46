import type { LanguageModelV4StreamPart, LanguageModelV4StreamResult } from "@ai-sdk/provider";
import { abortable, abortReason, type Clock } from "@trivium/core";
import type { ModelChunk, ModelFailure, ModelRequest } from "../../ports/model-port.ts";
import type { ResolvedProfile } from "../resolve-profile.ts";
import { callKeyOf, thinkingBudget, toCallOptions } from "./call-options.ts";
import { classifyFailure } from "./classify-failure.ts";
import { createLanguageModel } from "./create-language-model.ts";
import { fetchWithBody, type RequestBody } from "./fetch-with-body.ts";
import { PartReader } from "./read-parts.ts";
import { SilenceWatch } from "./silence-watch.ts";

/** What the adapter takes from outside. */
export interface AiSdkModelDeps {
  readonly clock: Clock;
  readonly fetch: typeof globalThis.fetch;
}

/** Makes one request of a profile's provider and reads its stream. */
export async function* streamStep(
  profile: ResolvedProfile,
  { clock, fetch }: AiSdkModelDeps,
  request: ModelRequest,
): AsyncGenerator<ModelChunk, void, undefined> {
  const secrets = [profile.apiKey, ...Object.values(profile.httpHeaders)].filter(
    (value) => value !== undefined,
  );
  const classify = (thrown: unknown): ModelFailure =>
    classifyFailure(thrown, { secrets, nowMs: clock.now() });
  using watch = new SilenceWatch(clock, profile.chunkTimeoutMs, request.signal);
  const { signal } = watch;
  try {
    const model = createLanguageModel(profile, fetchWithBody(fetch, bodyChange(profile, request)));
    const answer = await abortable(
      Promise.resolve(model.doStream(toCallOptions(profile, request, signal))),
      signal,
    );
    const mismatch = notAStream(answer, profile);
    if (mismatch !== undefined) {
      await answer.stream.cancel();
      yield mismatch;
      return;
    }
    for await (const chunk of chunksOf(answer.stream, new PartReader(classify, callKeyOf(profile)), watch)) {
      yield chunk;
      if (chunk.type === "error") return;
    }
  } catch (thrown) {
    if (request.signal.aborted) throw abortReason(request.signal);
    yield watch.failure ?? classify(thrown);
  }
}

async function* chunksOf(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  parts: PartReader,
  watch: SilenceWatch,
): AsyncGenerator<ModelChunk, void, undefined> {
  // Not `for await`: its waiting could not be cut short, and its cancel waits for the source. The watch ends the
  // HTTP request.
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await abortable(reader.read(), watch.signal);
    watch.reset();
    if (done) break;
    yield* parts.read(value);
  }
  yield* parts.end();
}

/** The packages count reasoning on top of `max_tokens`; the profile's limit is for both together. */
function bodyChange(profile: ResolvedProfile, request: ModelRequest): (body: RequestBody) => RequestBody {
  return (body) => {
    const limited = body["max_tokens"];
    return {
      ...body,
      ...(typeof limited === "number" &&
        thinkingBudget(request) !== undefined && {
          max_tokens: Math.min(limited, request.maxOutputTokens),
        }),
      ...profile.extraBody,
    };
  };
}

/** A web page or a plain JSON answer means that the address is wrong, which no retry changes. */
function notAStream(answer: LanguageModelV4StreamResult, profile: ResolvedProfile): ModelFailure | undefined {
  const type = answer.response?.headers?.["content-type"] ?? "";
  if (!/^(text\/html|application\/json)\b/i.test(type)) return undefined;
  return {
    type: "error",
    kind: "config",
    message: `${profile.baseUrl} answered with ${type} instead of an event stream; check base_url and provider`,
  };
}
