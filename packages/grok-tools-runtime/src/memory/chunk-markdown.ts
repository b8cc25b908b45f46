/** A piece of a document that is found and shown as one. */
export interface Chunk {
  /** From 1, both included. */
  readonly firstLine: number;
  readonly lastLine: number;
  readonly text: string;
}

/** Characters of a chunk. */
const MAX_CHUNK_LENGTH = 1_600;
/** Characters that a chunk repeats from the one before it in the same section. */
const OVERLAP_LENGTH = 200;

type Line = { readonly number: number; readonly text: string };

/**
 * Cuts a Markdown text at its headings, a long section also between paragraphs, a long paragraph between lines, a
 * long line anywhere. Blank pieces are left out.
 */
export function chunkMarkdown(text: string): Chunk[] {
  return sectionsOf(text)
    .flatMap(piecesOf)
    .filter((piece) => piece.text.trim() !== "");
}

function sectionsOf(text: string): Line[][] {
  const sections: Line[][] = [[]];
  let isFenced = false;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s{0,3}(```|~~~)/.test(line)) isFenced = !isFenced;
    if (!isFenced && /^#{1,6}(\s|$)/.test(line)) sections.push([]);
    sections.at(-1)?.push({ number: index + 1, text: line });
  }
  return sections;
}

function piecesOf(section: readonly Line[]): Chunk[] {
  const chunks: Chunk[] = [];
  let current: Line[] = [];
  let length = 0;
  for (const block of blocksOf(section)) {
    const blockLength = lengthOf(block);
    if (length > 0 && length + blockLength > MAX_CHUNK_LENGTH) {
      chunks.push(toChunk(current));
      current = overlapOf(current, MAX_CHUNK_LENGTH - blockLength);
      length = lengthOf(current);
    }
    current.push(...block);
    length += blockLength;
  }
  chunks.push(toChunk(current));
  return chunks;
}

/** Paragraphs with the blank lines after them; one that is too long falls into lines, or parts of lines. */
function blocksOf(section: readonly Line[]): Line[][] {
  const paragraphs: Line[][] = [[]];
  for (const [index, line] of section.entries()) {
    const before = section[index - 1];
    if (before?.text.trim() === "" && line.text.trim() !== "") paragraphs.push([]);
    paragraphs.at(-1)?.push(line);
  }
  return paragraphs.flatMap((paragraph) =>
    lengthOf(paragraph) <= MAX_CHUNK_LENGTH ? [paragraph] : paragraph.flatMap(lineBlocksOf),
  );
}

function lineBlocksOf(line: Line): Line[][] {
  const blocks: Line[][] = [];
  const step = MAX_CHUNK_LENGTH - OVERLAP_LENGTH;
  for (let start = 0; start === 0 || start < line.text.length; start += step) {
    blocks.push([{ number: line.number, text: line.text.slice(start, start + step) }]);
  }
  return blocks;
}

/** The last whole lines that fit into the overlap, and into the room that the next block leaves. */
function overlapOf(lines: readonly Line[], room: number): Line[] {
  const kept: Line[] = [];
  for (const line of lines.toReversed()) {
    if (lengthOf([line, ...kept]) > Math.min(OVERLAP_LENGTH, room)) break;
    kept.unshift(line);
  }
  return kept;
}

function lengthOf(lines: readonly Line[]): number {
  return lines.reduce((length, { text }) => length + text.length + 1, 0);
}

function toChunk(lines: readonly Line[]): Chunk {
  return {
    firstLine: lines[0]?.number ?? 1,
    lastLine: lines.at(-1)?.number ?? 1,
    text: lines.map(({ text }) => text).join("\n"),
  };
}
