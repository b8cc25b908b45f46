import type { SchemeParams } from "./scheme-params.ts";

/** An anchor as it was given. */
export interface GivenAnchor {
  /** Undefined: the line is the only one with this hash. */
  readonly line: number | undefined;
  readonly local: string;
  readonly chunk: string | undefined;
}

/** Undefined for what is no anchor. Text copied along with it, from the arrow on, is left out. */
export function parseAnchor(
  text: string,
  { scheme, hash_len: length }: SchemeParams,
): GivenAnchor | undefined {
  const anchor = (text.split(/→|->/, 1)[0] ?? "").trim();
  const hash = `([a-z]{${length}})`;
  const match = new RegExp(`^(?:(\\d{1,9}):|:)?${hash}(?::${hash})?$`).exec(anchor);
  const [, line, local, chunk] = match ?? [];
  if (local === undefined || (chunk !== undefined && scheme !== "chunk")) return undefined;
  if (line !== undefined && Number(line) === 0) return undefined;
  return { line: line === undefined ? undefined : Number(line), local, chunk };
}

/** Whether a line's anchor is the given one, its number aside. */
export function hasHashes(anchor: string, { local, chunk }: GivenAnchor): boolean {
  const [, ownLocal, ownChunk] = anchor.split(":");
  return ownLocal === local && (chunk === undefined || ownChunk === chunk);
}

/** Content that begins with what a reading tool shows before a line: an anchor and an arrow. */
export function looksAnchored(content: string): boolean {
  return content.split("\n").some((line) => {
    const [prefix = "", ...rest] = line.split("→");
    if (rest.length > 0 && Buffer.byteLength(prefix) <= 25 && prefix.includes(":") && !prefix.includes(" ")) {
      return true;
    }
    // `a::b->c` is code in several languages; with this arrow only a whole anchor counts.
    return /^\d+:[a-z]{1,4}(?::[a-z]{1,4})?->/.test(line);
  });
}
