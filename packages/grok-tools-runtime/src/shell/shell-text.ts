/** Characters of a line before a newline is put in. */
const WRAP_CHARACTERS = 2000;
const CUT_MARKER = "\n\n... (output truncated) ...\n\n";

// Control sequences, operating system commands and other escapes of terminals.
const ESCAPES =
  // oxlint-disable-next-line no-control-regex -- escapes are what is looked for
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B]*(?:\u001B\\)?|[ -/]*[0-~])/g;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F\u0080-\u009F]/g;

/** Output without escapes and control characters, with the final state of progress lines. */
export function toPlainText(output: string): string {
  return output
    .replace(ESCAPES, "")
    .replaceAll(/\r+\n/g, "\n")
    .split("\n")
    .map(afterLastReturn)
    .join("\n")
    .replace(CONTROLS, "");
}

/** What a terminal would show of a line that was written over again and again. */
function afterLastReturn(line: string): string {
  const trimmed = line.replace(/\r+$/, "");
  return trimmed.slice(trimmed.lastIndexOf("\r") + 1);
}

/** Puts a newline into lines that are very long. Nothing is dropped. */
export function softWrap(text: string): string {
  return text
    .split("\n")
    .map((line) => (line.length <= WRAP_CHARACTERS ? line : wrapLine(line)))
    .join("\n");
}

function wrapLine(line: string): string {
  const characters = Array.from(line);
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += WRAP_CHARACTERS) {
    pieces.push(characters.slice(start, start + WRAP_CHARACTERS).join(""));
  }
  return pieces.join("\n");
}

/** Head and tail of an output, as a command runner keeps them. */
export interface KeptBytes {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly omittedBytes: number;
}

/** What an answer holds of an output. */
export interface CutOutput {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly isTruncated: boolean;
}

/** Bytes a runner has to keep at each end for {@link cutOutput} to be exact. */
export function keptBytesFor(maxCharacters: number): number {
  return Math.max(4, Math.ceil(maxCharacters / 2) * 4);
}

/** The whole output if it has at most so many characters, else its first and last half of them around a marker. */
export function cutOutput({ head, tail, omittedBytes }: KeptBytes, maxCharacters: number): CutOutput {
  const half = Math.floor(maxCharacters / 2);
  if (omittedBytes === 0) {
    const bytes = tail.length === 0 ? head : Buffer.concat([head, tail]);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    const characters = Array.from(text);
    if (characters.length <= maxCharacters) return { bytes, text, isTruncated: false };
    return cutTo(characters.slice(0, half), half === 0 ? [] : characters.slice(-half));
  }
  const first = Array.from(new TextDecoder("utf-8", { ignoreBOM: true }).decode(head, { stream: true }));
  const last = Array.from(new TextDecoder("utf-8", { ignoreBOM: true }).decode(fromCharacterStart(tail)));
  return cutTo(first.slice(0, half), half === 0 ? [] : last.slice(-half));
}

function cutTo(first: readonly string[], last: readonly string[]): CutOutput {
  const text = first.join("").trimEnd() + CUT_MARKER + last.join("").trimStart();
  return { bytes: Buffer.from(text), text, isTruncated: true };
}

/** Leaves out the rest of a character whose beginning was cut off. */
export function fromCharacterStart(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}
