import { TriviumError } from "@trivium/core";

/** More than any answer that is of use; beyond it the stream is not worth reading. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const MAX_HEADER_BYTES = 64 * 1024;
const HEADER_END = "\r\n\r\n";

/** Cuts a stream into the bodies of its messages, each of which follows a header with its length. */
export class MessageSplitter {
  #pieces: Uint8Array[] = [];
  #heldBytes = 0;
  /** Bytes of the body that is being read; undefined: a header is. */
  #bodyBytes: number | undefined;

  /**
   * Complete bodies.
   *
   * @throws {@link TriviumError} `outOfRange` for a message above 64 MiB, `dataLoss` for what is no header.
   */
  push(chunk: Uint8Array): string[] {
    this.#pieces.push(chunk);
    this.#heldBytes += chunk.length;
    const bodies: string[] = [];
    for (;;) {
      if (this.#bodyBytes === undefined && !this.#takeHeader()) return bodies;
      const body = this.#take(this.#bodyBytes ?? 0);
      if (body === undefined) return bodies;
      this.#bodyBytes = undefined;
      if (body.length > 0) bodies.push(body.toString());
    }
  }

  #takeHeader(): boolean {
    const held = this.#join();
    const end = held.indexOf(HEADER_END);
    if (end === -1) {
      if (held.length <= MAX_HEADER_BYTES) return false;
      throw new TriviumError("dataLoss", "the server does not send messages with a Content-Length");
    }
    const header = this.#take(end + HEADER_END.length)?.toString("latin1") ?? "";
    const length = /^content-length: *(\d+) *$/im.exec(header)?.[1];
    if (length === undefined) {
      throw new TriviumError("dataLoss", "the server sent a message without a Content-Length");
    }
    this.#bodyBytes = Number(length);
    if (this.#bodyBytes > MAX_MESSAGE_BYTES) {
      throw new TriviumError(
        "outOfRange",
        `the server sent a message of more than ${MAX_MESSAGE_BYTES} bytes`,
      );
    }
    return true;
  }

  /** The next bytes; undefined while there are fewer. */
  #take(bytes: number): Buffer | undefined {
    if (this.#heldBytes < bytes) return undefined;
    const held = this.#join();
    this.#heldBytes -= bytes;
    this.#pieces = [held.subarray(bytes)];
    return held.subarray(0, bytes);
  }

  #join(): Buffer {
    const held = Buffer.concat(this.#pieces);
    this.#pieces = [held];
    return held;
  }
}
