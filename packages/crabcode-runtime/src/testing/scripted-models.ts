import type { ToolInput } from "../conversation/message.ts";
import { CrabcodeError } from "../crabcode-error.ts";
import type {
  ModelCatalogue,
  ModelChunk,
  ModelFailure,
  ModelPort,
  ModelRequest,
} from "../ports/model-port.ts";

/** One answer of the model: what it says, in this order. */
export interface ScriptEntry {
  /** Number of the agent it is for. Default: whoever asks first; null is the main loop. */
  readonly agent?: number | null;
  readonly thinking?: string;
  readonly text?: string | readonly string[];
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly input?: ToolInput;
    readonly raw_input?: string;
  }[];
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
  /** Waits for `release` of this name before any output, or after `hold_after_chunks` chunks. */
  readonly hold?: string;
  readonly hold_after_chunks?: number;
  readonly failure?: Omit<ModelFailure, "type">;
  /** The failure comes after the entry's output instead of before it. */
  readonly failsAfterOutput?: boolean;
  readonly finish?: "stop" | "length" | "content-filter";
}

/** Models that play a list of answers, one for each request, and remember what they were asked. */
export class ScriptedModels implements ModelCatalogue {
  readonly requests: ModelRequest[] = [];
  readonly entries: ScriptEntry[];
  contextWindowTokens = 200_000;
  allowsBackgroundRequests = false;
  /** Profiles that cannot be opened. */
  readonly unusable: Set<string> = new Set();
  readonly #released = new Map<string, PromiseWithResolvers<void>>();

  constructor(entries: readonly ScriptEntry[] = []) {
    this.entries = [...entries];
  }

  list(): { name: string; description: string }[] {
    return [
      { name: "script", description: "script/m" },
      { name: "other", description: "script/n" },
    ];
  }

  defaultProfile(): string {
    return "script";
  }

  release(hold: string): void {
    this.#gate(hold).resolve();
  }

  open(profile: string): ModelPort {
    if (this.unusable.has(profile)) throw new CrabcodeError("PROFILE_UNUSABLE", "the profile has no key");
    return {
      provider: "script",
      model: "m",
      contextWindowTokens: this.contextWindowTokens,
      maxOutputTokens: 16_384,
      maxRetries: 5,
      allowsBackgroundRequests: this.allowsBackgroundRequests,
      stream: (request) => this.#play(request),
    };
  }

  async *#play(request: ModelRequest): AsyncIterable<ModelChunk> {
    this.requests.push({ ...request, messages: [...request.messages] });
    const { agentNumber } = request.loop;
    const index = this.entries.findIndex(({ agent = agentNumber }) => agent === agentNumber);
    const [entry] = index < 0 ? [] : this.entries.splice(index, 1);
    if (entry === undefined) {
      yield { type: "error", kind: "config", message: "script exhausted" };
      return;
    }
    const { failure } = entry;
    if (failure !== undefined && entry.failsAfterOutput !== true) {
      yield { type: "error", ...failure };
      return;
    }
    let count = 0;
    for (const chunk of chunksOf(entry)) {
      if (entry.hold !== undefined && count++ === (entry.hold_after_chunks ?? 0)) {
        await this.#gate(entry.hold).promise;
      }
      yield chunk;
    }
    if (failure !== undefined) yield { type: "error", ...failure };
  }

  #gate(hold: string): PromiseWithResolvers<void> {
    let gate = this.#released.get(hold);
    if (gate === undefined) {
      gate = Promise.withResolvers<void>();
      this.#released.set(hold, gate);
    }
    return gate;
  }
}

function* chunksOf(entry: ScriptEntry): Iterable<ModelChunk> {
  if (entry.thinking !== undefined) yield { type: "thinking", text: entry.thinking };
  const texts = typeof entry.text === "string" ? [entry.text] : (entry.text ?? []);
  for (const text of texts) yield { type: "text", text };
  for (const { id, name, input, raw_input } of entry.tool_calls ?? []) {
    yield { type: "tool-start", id, name };
    yield {
      type: "tool-end",
      id,
      name,
      ...(input !== undefined && { input }),
      ...(raw_input !== undefined && { rawInput: raw_input }),
    };
  }
  const { input_tokens: inputTokens, output_tokens: outputTokens } = entry.usage ?? {
    input_tokens: 10,
    output_tokens: 5,
  };
  yield { type: "usage", usage: { inputTokens, outputTokens } };
  yield { type: "finish", reason: entry.finish ?? (entry.tool_calls === undefined ? "stop" : "tool-calls") };
}
