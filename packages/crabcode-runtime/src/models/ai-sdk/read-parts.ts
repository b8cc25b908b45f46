import type {
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import type { ModelChunk, ModelFailure, ModelUsage } from "../../ports/model-port.ts";
import { parseToolInput } from "../parse-tool-input.ts";

/** What a provider's stream lacks when it ends in the middle. */
const CUT_STREAM: ModelFailure = {
  type: "error",
  kind: "transient",
  message: "the provider's stream ended before the answer was complete",
};

/**
 * Turns the parts of one provider stream into chunks of the port.
 *
 * A finished call is held until the next part: some packages finish open calls when a stream breaks, right before
 * they report the break, and a call cut in its arguments must not look like one the model wrote.
 */
export class PartReader {
  readonly #classify: (thrown: unknown) => ModelFailure;
  readonly #callKey: string | undefined;
  readonly #reasoningMeta = new Map<string, SharedV4ProviderMetadata>();
  #heldCalls: LanguageModelV4ToolCall[] = [];
  #isFinished = false;

  /**
   * @param classify for errors that come as parts
   * @param callKey whose metadata of calls is kept
   */
  constructor(classify: (thrown: unknown) => ModelFailure, callKey?: string) {
    this.#classify = classify;
    this.#callKey = callKey;
  }

  /** Chunks of one part. An `error` chunk is the last one of a stream. */
  read(part: LanguageModelV4StreamPart): ModelChunk[] {
    if (part.type === "error") return [this.#classify(part.error)];
    if (part.type === "tool-call") {
      if (part.providerExecuted !== true) this.#heldCalls.push(part);
      return [];
    }
    if (part.type === "finish" && part.finishReason.unified === "interrupted") return [CUT_STREAM];
    return [...this.#releaseCalls(), ...this.#chunksOf(part)];
  }

  /** What is to say when the stream has ended: nothing, if it finished. */
  end(): ModelChunk[] {
    return this.#isFinished ? [] : [CUT_STREAM];
  }

  #releaseCalls(): ModelChunk[] {
    return this.#heldCalls.splice(0).map(({ toolCallId, toolName, input: text, providerMetadata }) => {
      const call = {
        type: "tool-end" as const,
        id: toolCallId,
        name: toolName,
        ...(this.#callKey !== undefined &&
          providerMetadata?.[this.#callKey] !== undefined && { providerMeta: providerMetadata }),
      };
      const input = parseToolInput(text);
      return input === undefined ? { ...call, rawInput: text } : { ...call, input };
    });
  }

  #chunksOf(part: LanguageModelV4StreamPart): ModelChunk[] {
    // Only some kinds carry anything of the port; a new kind of a package must not break the build.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (part.type) {
      case "text-delta":
        return part.delta === "" ? [] : [{ type: "text", text: part.delta }];
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.#reasoning(part);
      case "tool-input-start":
        return [{ type: "tool-start", id: part.id, name: part.toolName }];
      case "tool-input-delta":
        return [{ type: "tool-delta", id: part.id, json: part.delta }];
      case "finish":
        return this.#finish(part);
      default:
        return [];
    }
  }

  /** Metadata may come with any part of a block; it leaves once, as the last chunk of the block. */
  #reasoning(
    part: Extract<LanguageModelV4StreamPart, { type: `reasoning-${"start" | "delta" | "end"}` }>,
  ): ModelChunk[] {
    if (part.providerMetadata !== undefined) {
      this.#reasoningMeta.set(part.id, merged(this.#reasoningMeta.get(part.id), part.providerMetadata));
    }
    if (part.type === "reasoning-delta") {
      return part.delta === "" ? [] : [{ type: "thinking", text: part.delta }];
    }
    const providerMeta = part.type === "reasoning-end" ? this.#reasoningMeta.get(part.id) : undefined;
    if (providerMeta === undefined) return [];
    this.#reasoningMeta.delete(part.id);
    return [{ type: "thinking", text: "", providerMeta }];
  }

  #finish({ finishReason, usage }: Extract<LanguageModelV4StreamPart, { type: "finish" }>): ModelChunk[] {
    this.#isFinished = true;
    const counted = toUsage(usage);
    const chunks: ModelChunk[] = counted === undefined ? [] : [{ type: "usage", usage: counted }];
    const reason = finishReason.unified;
    if (reason === "error" || reason === "interrupted") return [...chunks, CUT_STREAM];
    return [...chunks, { type: "finish", reason }];
  }
}

function merged(
  first: SharedV4ProviderMetadata | undefined,
  second: SharedV4ProviderMetadata,
): SharedV4ProviderMetadata {
  const result: SharedV4ProviderMetadata = { ...first };
  for (const [key, value] of Object.entries(second)) result[key] = { ...result[key], ...value };
  return result;
}

/** Undefined when the provider counted nothing. */
function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): ModelUsage | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    ...(inputTokens.cacheRead !== undefined && { cachedInputTokens: inputTokens.cacheRead }),
    ...(outputTokens.reasoning !== undefined && { reasoningTokens: outputTokens.reasoning }),
  };
}
