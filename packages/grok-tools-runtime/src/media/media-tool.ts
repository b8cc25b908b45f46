import { abortReason, linkSignals } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import { type ResolveHost, systemResolver } from "../net/host-lookup.ts";
import type { ResourceDefinition } from "../session-resource.ts";
import type { ToolContext, ToolDependency, ToolOutputDefinition, ToolResult } from "../tool.ts";
import { ToolError } from "../tool-error.ts";
import { readProviderKey } from "../web/provider-key.ts";
import type { MediaApi } from "./media-api.ts";
import { type Artifact, sessionArtifacts } from "./session-artifacts.ts";

/** Pictures or films, and what goes with them. */
export type MediaKind = "image" | "video";

interface MediaRules {
  readonly dependency: ToolDependency;
  readonly folder: "images" | "videos";
  readonly extension: string;
  /** Calls of one step of a model, which run at once. */
  readonly maxCalls: number;
  readonly timeoutMs: number;
}

const rules: Readonly<Record<MediaKind, MediaRules>> = {
  image: {
    dependency: {
      name: "image_api",
      setting: "tools.media.images",
      isConfigured: ({ media }) => media.images !== undefined,
    },
    folder: "images",
    extension: "jpg",
    maxCalls: 8,
    timeoutMs: 300_000,
  },
  video: {
    dependency: {
      name: "video_api",
      setting: "tools.media.videos",
      isConfigured: ({ media }) => media.videos !== undefined,
    },
    folder: "videos",
    extension: "mp4",
    maxCalls: 4,
    timeoutMs: 300_000,
  },
};

/** Proportions of pictures and films. */
export const aspectRatios = [
  "1:1",
  "16:9",
  "9:16",
  "4:3",
  "3:4",
  "3:2",
  "2:3",
  "2:1",
  "1:2",
  "19.5:9",
  "9:19.5",
  "20:9",
  "9:20",
  "auto",
] as const;

/** The backend of a kind. */
export function mediaDependency(kind: MediaKind): ToolDependency {
  return rules[kind].dependency;
}

/** The union value of a media tool. */
export function mediaOutput(type: string): ToolOutputDefinition {
  return {
    schema: z.object({
      type: z.literal(type),
      path: z.string(),
      filename: z.string(),
      session_folder: z.string(),
      uploaded_url: z.string().optional(),
    }),
    fields: [
      { name: "path", description: "Absolute path of the file.", type: "string" },
      { name: "filename", description: "Its name.", type: "string" },
      {
        name: "session_folder",
        description: "Private folder of the session, which holds it.",
        type: "string",
      },
    ],
  };
}

/** Running calls by kind. */
const runningCalls: ResourceDefinition<Record<MediaKind, number>> = {
  name: "media-calls",
  create: () => ({ image: 0, video: 0 }),
};

/** One call of a media tool. */
export interface MediaCall {
  readonly kind: MediaKind;
  /** Of the output. */
  readonly type: string;
  readonly context: ToolContext;
  /** Gives the bytes of the picture or film. */
  make(api: MediaApi): Promise<Buffer>;
  readonly resolve?: ResolveHost | undefined;
}

/**
 * Has a picture or film made and keeps it in the session's folder.
 *
 * @throws {@link ToolError} NOT_IMPLEMENTED without an API, RATE_LIMITED for too many calls at once, TIMEOUT, and what
 * `make` throws.
 */
export async function runMediaCall(call: MediaCall): Promise<ToolResult> {
  const { kind, context, resolve = systemResolver } = call;
  const settings = kind === "image" ? context.settings.media.images : context.settings.media.videos;
  const { folder, extension, maxCalls, timeoutMs } = rules[kind];
  if (settings === undefined) throw new ToolError(ErrorCode.NOT_IMPLEMENTED, `there is no API for a ${kind}`);
  const running = context.resource(runningCalls);
  if (running[kind] >= maxCalls) {
    throw new ToolError(ErrorCode.RATE_LIMITED, `${maxCalls} calls that make a ${kind} are running already`, {
      detailKind: "concurrency_limit",
      retryable: true,
    });
  }
  running[kind] += 1;
  using limited = linkSignals([context.signal], { timeoutMs, clock: context.clock });
  const { signal } = limited;
  try {
    const key = await readProviderKey(settings, context.environment);
    const bytes = await call.make({ settings, key, resolve, clock: context.clock, signal });
    return mediaResult(call, await context.resource(sessionArtifacts).save(folder, extension, bytes));
  } catch (thrown) {
    if (context.signal.aborted) throw abortReason(context.signal);
    if (!signal.aborted) throw thrown;
    throw new ToolError(ErrorCode.TIMEOUT, `the ${kind} was not there within ${timeoutMs / 1000} s`, {
      cause: thrown,
    });
  } finally {
    running[kind] -= 1;
  }
}

function mediaResult({ kind, type, context }: MediaCall, { path, filename }: Artifact): ToolResult {
  const place = { path, filename, session_folder: context.sessionFolder };
  const message = `The ${kind} was saved to ${path}.`;
  return { output: { type, ...place }, promptText: JSON.stringify({ ...place, message }) };
}

/** A prompt that says something. @throws {@link ToolError} INVALID_INPUT */
export function checkPrompt(prompt: string, context: Pick<ToolContext, "parameterName">): void {
  if (prompt.trim() !== "") return;
  throw ToolError.invalidField(context.parameterName("prompt"), "the prompt is empty; say what to show");
}
