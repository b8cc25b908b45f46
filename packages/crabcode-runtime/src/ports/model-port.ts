import type { Message, ToolInput } from "../conversation/message.ts";
import type { ModelSettings } from "../settings/model-settings.ts";

/** A tool as a model is told about it. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input, always of type `object`. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** Which loop asks. Only models that keep a place of their own (`script`) need it. */
export interface ModelLoop {
  readonly sessionId: string;
  /** 1-based number of the agent within its session; null is the main loop. */
  readonly agentNumber: number | null;
  /** Name of the profile the loop uses. */
  readonly profile: string;
}

/** One model request. One step of a turn makes one, a retry makes another. */
export interface ModelRequest {
  readonly loop: ModelLoop;
  /** Sections of the system prompt, in order. */
  readonly system: readonly string[];
  /**
   * History in the internal form. Each `tool_use` has its `tool_result` in the next user message. Two
   * neighbouring messages may have one role; adapters merge them where a provider insists on alternation.
   */
  readonly messages: readonly Message[];
  readonly tools: readonly ModelTool[];
  /** Output tokens the answer may have. */
  readonly maxOutputTokens: number;
  /** Absent: no reasoning is asked for. */
  readonly thinking?: { readonly budgetTokens: number };
  /** Ends the request. The stream then ends or throws, at once either way. */
  readonly signal: AbortSignal;
}

/** What one request used, as the provider counted it. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
}

/**
 * Why a request failed, as far as the loop treats it differently.
 *
 * - `transient`: transport, time-out, 408, 409, 429, 5xx: worth another attempt
 * - `contextOverflow`: the request does not fit
 * - `auth`: 401 or 403
 * - `config`: the profile cannot be used as it is; no attempt can help
 * - `contentFilter`: refused by the provider's filter
 * - `other`: anything else; not retried
 */
export type ModelErrorKind = "transient" | "contextOverflow" | "auth" | "config" | "contentFilter" | "other";

/** The failure of a request, as the last chunk of its stream. */
export interface ModelFailure {
  readonly type: "error";
  readonly kind: ModelErrorKind;
  /** The provider's own message without secrets; may be cut by the loop. */
  readonly message: string;
  /** HTTP status, when there was one. */
  readonly status?: number;
  /** What the provider asked to wait before another attempt. */
  readonly retryAfterMs?: number;
  /** The real limit, when the message of a `contextOverflow` names one. */
  readonly contextWindowTokens?: number;
}

/**
 * One piece of a streamed answer.
 *
 * Calls may be announced (`tool-start`, `tool-delta`) or come whole; only `tool-end` counts. `input` is absent
 * when the arguments were not a JSON object; `rawInput` is then what the provider sent. `providerMeta` of
 * thinking and of calls (a signature) is stored and sent back unchanged. `usage` may come more than once: the last one holds.
 * A stream without `finish` ended early, which the loop treats as finished.
 */
export type ModelChunk =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "thinking";
      readonly text: string;
      readonly providerMeta?: Readonly<Record<string, unknown>>;
    }
  | { readonly type: "tool-start"; readonly id: string; readonly name: string }
  | { readonly type: "tool-delta"; readonly id: string; readonly json: string }
  | {
      readonly type: "tool-end";
      readonly id: string;
      readonly name: string;
      readonly input?: ToolInput;
      readonly rawInput?: string;
      readonly providerMeta?: Readonly<Record<string, unknown>>;
    }
  | { readonly type: "usage"; readonly usage: ModelUsage }
  | {
      readonly type: "finish";
      readonly reason: "stop" | "tool-calls" | "length" | "content-filter" | "other";
    }
  | ModelFailure;

/** Port for one opened model. Stateless between requests as far as the loop can see. */
export interface ModelPort {
  /** Such as `anthropic`, `offline`, `script`. */
  readonly provider: string;
  /** The provider's id of the model. */
  readonly model: string;
  readonly contextWindowTokens: number;
  /** The profile's `max_tokens`. */
  readonly maxOutputTokens: number;
  /** Reasoning to ask for; absent when the profile switched it off. */
  readonly thinking?: { readonly budgetTokens: number };
  /** Attempts after a `transient` failure; the profile's `max_retries`, 5 unless set. */
  readonly maxRetries: number;
  /** False for models that a background request (a title) would disturb: `offline`, `script`. */
  readonly allowsBackgroundRequests: boolean;
  /**
   * Makes one request. Never retries by itself and runs no tool. A failure of the provider is an `error` chunk,
   * not a throw; what is thrown counts as a fault of the adapter.
   */
  stream(request: ModelRequest): AsyncIterable<ModelChunk>;
}

/** One row of ListModels. */
export interface ModelProfileEntry {
  readonly name: string;
  /** `<provider>/<model>`, whichever of the two is set, or `(no model set)`. */
  readonly description: string;
}

/** Small values a model keeps with a session, such as its place in a script. They survive a restart. */
export interface ModelState {
  read(key: string): string | undefined;
  /** Durable when it returns. */
  write(key: string, value: string): void;
}

/** What a profile is opened with. */
export interface OpenModelOptions {
  readonly settings: ModelSettings;
  readonly sessionId: string;
  readonly state: ModelState;
}

/** Port for the profiles that settings describe. One for the whole server. */
export interface ModelCatalogue {
  /** In the order of ListModels: configured ones, `default` when the base names a model, `offline` last. */
  list(settings: ModelSettings): readonly ModelProfileEntry[];
  /** The profile a session starts with. Never throws: `offline` when nothing else is usable. */
  defaultProfile(settings: ModelSettings): string;
  /**
   * Makes the model of one listed profile.
   *
   * @throws CrabcodeError MODEL_NOT_FOUND when there is none of that name, PROFILE_UNUSABLE when it lacks
   * something.
   */
  open(profile: string, options: OpenModelOptions): ModelPort;
}
