import type { ModelChunk, ModelPort, ModelRequest } from "../../ports/model-port.ts";
import type { ResolvedProfile } from "../resolve-profile.ts";
import type { AiSdkModelDeps } from "./stream-step.ts";

/**
 * A provider behind the model port: one HTTP request per stream, no retry, no tool ever run.
 *
 * The provider packages of the AI SDK write the request and read the response; their models are called directly,
 * so that one request is exactly one step.
 */
export function createAiSdkModel(profile: ResolvedProfile, deps: AiSdkModelDeps): ModelPort {
  return {
    provider: profile.provider,
    model: profile.model,
    contextWindowTokens: profile.contextWindowTokens,
    maxOutputTokens: profile.maxOutputTokens,
    ...(profile.thinking !== undefined && { thinking: profile.thinking }),
    maxRetries: profile.maxRetries,
    allowsBackgroundRequests: true,
    stream: (request) => load(profile, deps, request),
  };
}

/** The packages take a quarter of a second to load, which a server that never needs them should not pay. */
async function* load(
  profile: ResolvedProfile,
  deps: AiSdkModelDeps,
  request: ModelRequest,
): AsyncGenerator<ModelChunk, void, undefined> {
  const { streamStep } = await import("./stream-step.ts");
  yield* streamStep(profile, deps, request);
}
