import { toPlainText } from "../../../shell/shell-text.ts";

const MAX_LINE_BYTES = 500;
const MAX_BATCH_BYTES = 3000;
/** A line that has not ended yet is kept up to here. */
const MAX_TAIL_BYTES = 1024 * 1024;
const CUT = "...(truncated)";

/**
 * Makes texts for events from the output of a command, which comes in pieces that may end inside a line or a
 * character. Blank lines are dropped; long lines and batches are cut between two characters.
 */
export class LineBatches {
  #decoder = newDecoder();
  #tail = "";
  /** What comes before the next line feed belongs to a line of which a part was left out. */
  #isInsideLostLine = false;

  /** The complete lines up to now as one text; empty when there are none. */
  take(bytes: Uint8Array): string {
    const lines = (this.#tail + this.#decoder.decode(bytes, { stream: true })).split("\n");
    if (this.#isInsideLostLine && lines.length > 1) {
      lines.shift();
      this.#isInsideLostLine = false;
    }
    this.#tail = this.#isInsideLostLine ? "" : firstBytes(lines.pop() ?? "", MAX_TAIL_BYTES);
    return this.#isInsideLostLine ? "" : toBatch(lines);
  }

  /** Output was left out here. */
  skip(): void {
    this.#decoder = newDecoder();
    this.#tail = "";
    this.#isInsideLostLine = true;
  }

  /** The last line, when the command ended without a line feed. */
  flush(): string {
    const rest = this.#tail + this.#decoder.decode();
    this.#tail = "";
    return this.#isInsideLostLine ? "" : toBatch([rest]);
  }
}

function newDecoder(): TextDecoder {
  return new TextDecoder("utf-8", { ignoreBOM: true });
}

function toBatch(lines: readonly string[]): string {
  const shown: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    const text = toPlainText(line).trim();
    if (text === "") continue;
    const cut = cutTo(text, MAX_LINE_BYTES, CUT);
    shown.push(cut);
    bytes += Buffer.byteLength(cut) + 1;
    // What follows is cut off anyway.
    if (bytes > MAX_BATCH_BYTES + 1) break;
  }
  return cutTo(shown.join("\n"), MAX_BATCH_BYTES, `\n${CUT}`);
}

function cutTo(text: string, maxBytes: number, mark: string): string {
  return Buffer.byteLength(text) <= maxBytes ? text : firstBytes(text, maxBytes) + mark;
}

/** The first bytes of a text, whole characters only. */
function firstBytes(text: string, maxBytes: number): string {
  // A character has at most three bytes for each unit of the text.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  let end = Math.min(maxBytes, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}
