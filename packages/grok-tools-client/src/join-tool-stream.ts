import { StreamDataKind, type StreamFinalResult, type ToolStreamChunk } from "@trivium/proto/grok-tools";
import { StreamIntegrityError } from "./session-errors.ts";

/** A streamed answer, put together. */
export interface JoinedStream {
  readonly callId: string;
  readonly final: StreamFinalResult;
  readonly promptText: string;
  readonly outputJson: string;
}

/** How to join. */
export interface JoinOptions {
  /** Called with each piece of the text as it comes; the pieces together are the text. */
  readonly onText: (piece: string) => void;
  /** Bytes of an answer that are accepted. */
  readonly maxBytes: number;
}

/**
 * Puts the slices of a stream together. Bytes are joined before they are decoded: servers may cut inside a character.
 *
 * @throws {@link StreamIntegrityError} for a gap, a size that does not fit, a missing end or too much data.
 */
export async function joinToolStream(
  chunks: AsyncIterable<ToolStreamChunk>,
  options: JoinOptions,
): Promise<JoinedStream> {
  const prompt = new SliceJoiner("prompt_text", options);
  const output = new SliceJoiner("output_json", { ...options, onText: () => {} });
  let joined: JoinedStream | undefined;
  for await (const { callId, chunk } of chunks) {
    if (joined !== undefined) throw new StreamIntegrityError("the stream goes on after its final result");
    if (chunk.case === "data") {
      const { kind, data, offset } = chunk.value;
      if (kind === StreamDataKind.PROMPT_TEXT) prompt.add(data, offset);
      else if (kind === StreamDataKind.OUTPUT_JSON) output.add(data, offset);
    } else if (chunk.case === "finalResult") {
      const final = chunk.value;
      joined = {
        callId,
        final,
        promptText: prompt.end(final.promptTextSize),
        outputJson: output.end(final.outputJsonSize),
      };
    }
  }
  if (joined === undefined) throw new StreamIntegrityError("the stream ended without a final result");
  return joined;
}

class SliceJoiner {
  readonly #field: string;
  readonly #options: JoinOptions;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #pieces: string[] = [];
  #bytes = 0;

  constructor(field: string, options: JoinOptions) {
    this.#field = field;
    this.#options = options;
  }

  add(data: Uint8Array, offset: bigint): void {
    if (Number(offset) !== this.#bytes) {
      throw new StreamIntegrityError(`${this.#field} goes on at byte ${offset} instead of ${this.#bytes}`);
    }
    this.#bytes += data.length;
    if (this.#bytes > this.#options.maxBytes) {
      throw new StreamIntegrityError(`${this.#field} is larger than ${this.#options.maxBytes} bytes`);
    }
    this.#emit(this.#decoder.decode(data, { stream: true }));
  }

  end(size: bigint): string {
    if (Number(size) !== this.#bytes) {
      throw new StreamIntegrityError(`${this.#field} should have ${size} bytes and has ${this.#bytes}`);
    }
    this.#emit(this.#decoder.decode());
    return this.#pieces.join("");
  }

  #emit(piece: string): void {
    if (piece === "") return;
    this.#pieces.push(piece);
    this.#options.onText(piece);
  }
}
