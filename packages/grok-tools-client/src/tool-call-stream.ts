import { AsyncQueue } from "@trivium/core";
import type { ToolStreamChunk } from "@trivium/proto/grok-tools";
import { parseJsonField } from "@trivium/rpc";
import { joinToolStream } from "./join-tool-stream.ts";
import { toSessionError } from "./session-errors.ts";
import { type ToolCallResult, toCallMetadata } from "./tool-call.ts";
import { ToolCallError } from "./tool-error.ts";

/** A streamed answer larger than this is refused. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/**
 * A call whose text can be read while it arrives. Iterate for the pieces, await `result` for the whole; both are
 * optional, and leaving the loop early does not end the call (its signal does).
 */
export class ToolCallStream implements AsyncIterable<string> {
  /** The same as `call` gives. Rejects with what `call` throws, or {@link StreamIntegrityError}. */
  readonly result: Promise<ToolCallResult>;
  readonly #pieces = new AsyncQueue<string>(Number.MAX_SAFE_INTEGER);

  /** @internal Made by {@link ToolSession.stream}. */
  constructor(chunks: AsyncIterable<ToolStreamChunk>) {
    this.result = this.#read(chunks);
    // Whoever only reads the pieces learns of the failure there.
    this.result.catch(() => {});
  }

  [Symbol.asyncIterator](): AsyncIterator<string> {
    return this.#pieces;
  }

  async #read(chunks: AsyncIterable<ToolStreamChunk>): Promise<ToolCallResult> {
    try {
      const onText = (piece: string): void => void this.#pieces.tryPush(piece);
      const { callId, final, promptText, outputJson } = await joinToolStream(chunks, {
        onText,
        maxBytes: MAX_ANSWER_BYTES,
      });
      this.#pieces.end();
      const metadata = toCallMetadata(final.metadata);
      if (final.error !== undefined) {
        return { ok: false, callId, error: new ToolCallError(final.error), metadata };
      }
      return { ok: true, callId, output: parseJsonField("output_json", outputJson), promptText, metadata };
    } catch (thrown) {
      const error = toSessionError(thrown);
      this.#pieces.fail(error);
      throw error;
    }
  }
}
