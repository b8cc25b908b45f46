import type { OpenFile } from "../../../files/open-file.ts";
import type { ToolResult } from "../../../tool.ts";
import { numberEveryLine } from "./number-lines.ts";
import { contentFailure, type ReadFailure } from "./read-failure.ts";
import { ZipArchive } from "./zip-archive.ts";

const MAX_PPTX_BYTES = 50 * 1024 * 1024;
const MAX_ENTRY_BYTES = 64 * 1024 * 1024;
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
  const archive = ZipArchive.parse(await file.handle.readFile());
  const slides = archive === undefined ? [] : slideNumbers(archive);
  if (archive === undefined || slides.length === 0) {
    return contentFailure(`Error: ${display} is not a presentation, or has no slides.`, "corrupt");
  }
  const parts: string[] = [];
  let length = 0;
  for (const slide of slides) {
    signal.throwIfAborted();
    const part = await slideText(archive, slide).catch((thrown: unknown) => {
      if (thrown instanceof RangeError) return thrown;
      throw thrown;
    });
    if (part instanceof RangeError)
      return contentFailure(`Error: ${display} cannot be read: ${part.message}.`, "too_large");
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

async function slideText(archive: ZipArchive, slide: number): Promise<string> {
  const lines = [`--- Slide ${slide} ---`, ...(await paragraphsOf(archive, `ppt/slides/slide${slide}.xml`))];
  const notes = await paragraphsOf(archive, `ppt/notesSlides/notesSlide${slide}.xml`);
  if (notes.length > 0) lines.push("", "Speaker Notes:", ...notes);
  return lines.join("\n");
}

/** Text of each paragraph that has some. ECMA-376 part 1, 21.1.2: `a:p` holds runs with `a:t`. */
async function paragraphsOf(archive: ZipArchive, name: string): Promise<string[]> {
  const xml = (await archive.read(name, MAX_ENTRY_BYTES))?.toString("utf8") ?? "";
  return xml
    .split("</a:p>")
    .map((paragraph) =>
      [...paragraph.matchAll(/<a:t(?:\s[^<>]*)?>([^<]*)<\/a:t>/g)]
        .map(([, text = ""]) => decodeEntities(text))
        .join(""),
    )
    .filter((text) => text.trim() !== "");
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
