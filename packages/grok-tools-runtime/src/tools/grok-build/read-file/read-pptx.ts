import type { OpenFile } from "../../../files/open-file.ts";
import type { ToolResult } from "../../../tool.ts";
import { numberEveryLine } from "./number-lines.ts";
import { contentFailure, type ReadFailure } from "./read-failure.ts";
import { ZipArchive } from "./zip-archive.ts";

const MAX_PPTX_BYTES = 50 * 1024 * 1024;
/** Of all slides and notes together. */
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;
/** Far above any presentation that people make. */
const MAX_ENTRIES = 20_000;
/** Text beyond this is not returned, so unpacking more has no use. */
const MAX_TEXT_CHARS = 100_000;

/** Slides to show. */
export interface PptxTarget {
  readonly file: OpenFile;
  /** Real path. */
  readonly path: string;
  readonly display: string;
  readonly signal: AbortSignal;
}

/** Extracts the text of slides and their speaker notes. */
export async function readPptx({
  file,
  path,
  display,
  signal,
}: PptxTarget): Promise<ToolResult | ReadFailure> {
  if (file.sizeBytes > MAX_PPTX_BYTES) {
    return contentFailure(
      `Error: ${display} has ${file.sizeBytes} bytes; presentations up to ${MAX_PPTX_BYTES} bytes can be read.`,
      "too_large",
    );
  }
  try {
    return await readSlides(await file.handle.readFile(), { path, display, signal });
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return contentFailure(`Error: ${display} cannot be read: ${thrown.message}.`, "too_large");
  }
}

async function readSlides(
  bytes: Buffer,
  { path, display, signal }: Omit<PptxTarget, "file">,
): Promise<ToolResult | ReadFailure> {
  const archive = ZipArchive.parse(bytes, MAX_ENTRIES);
  const slides = archive === undefined ? [] : slideNumbers(archive);
  if (archive === undefined || slides.length === 0) {
    return contentFailure(`Error: ${display} is not a presentation, or has no slides.`, "corrupt");
  }
  const parts: string[] = [];
  const reader = new SlideReader(archive);
  let length = 0;
  for (const slide of slides) {
    signal.throwIfAborted();
    const part = await reader.textOf(slide);
    parts.push(part);
    length += part.length;
    if (length > MAX_TEXT_CHARS) {
      const text = `Error: the slides of ${display} have more text than can be returned (${MAX_TEXT_CHARS} characters).`;
      return { ...contentFailure(text, "too_large"), variant: "FileTooLarge" };
    }
  }
  const raw = parts.join("\n\n");
  const lines = raw.split("\n");
  const content = numberEveryLine(lines);
  return {
    output: {
      type: "ReadFile",
      FileContent: { content, absolute_path: path, offset: null, raw_output: raw, total_lines: lines.length },
    },
    promptText: content,
  };
}

function slideNumbers(archive: ZipArchive): number[] {
  return archive.names
    .map((name) => /^ppt\/slides\/slide(\d+)\.xml$/.exec(name)?.[1])
    .filter((number) => number !== undefined)
    .map(Number)
    .sort((one, other) => one - other);
}

/** Unpacks what slides need, in all at most {@link MAX_UNPACKED_BYTES}. */
class SlideReader {
  readonly #archive: ZipArchive;
  #leftBytes = MAX_UNPACKED_BYTES;

  constructor(archive: ZipArchive) {
    this.#archive = archive;
  }

  async textOf(slide: number): Promise<string> {
    const lines = [`--- Slide ${slide} ---`, ...(await this.#paragraphsOf(`ppt/slides/slide${slide}.xml`))];
    const notes = await this.#paragraphsOf(`ppt/notesSlides/notesSlide${slide}.xml`);
    if (notes.length > 0) lines.push("", "Speaker Notes:", ...notes);
    return lines.join("\n");
  }

  /** Text of each paragraph that has some. ECMA-376 part 1, 21.1.2: `a:p` holds runs with `a:t`. */
  async #paragraphsOf(name: string): Promise<string[]> {
    const bytes = await this.#archive.read(name, this.#leftBytes);
    this.#leftBytes -= bytes?.length ?? 0;
    return (bytes?.toString("utf8") ?? "")
      .split("</a:p>")
      .map((paragraph) =>
        [...paragraph.matchAll(/<a:t(?:\s[^<>]*)?>([^<]*)<\/a:t>/g)]
          .map(([, text = ""]) => decodeEntities(text))
          .join(""),
      )
      .filter((text) => text.trim() !== "");
  }
}

function decodeEntities(text: string): string {
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|lt|gt|amp|quot|apos);/gi, (found, entity: string) => {
    const named = namedEntities[entity.toLowerCase()];
    if (named !== undefined) return named;
    const point = /^#x/i.test(entity) ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1));
    return point <= 0x10ffff ? String.fromCodePoint(point) : found;
  });
}

const namedEntities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
