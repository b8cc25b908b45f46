import { setImmediate as nextTurn } from "node:timers/promises";
import { Parser } from "htmlparser2";
import { MarkdownWriter } from "./markdown-writer.ts";

/** Characters read between two looks at the signal, so that a large page does not stop the server. */
const STEP_CHARACTERS = 32 * 1024;

/** What a conversion needs to know. */
export interface ConversionOptions {
  /** Address of the page; relative links are taken from it. */
  readonly base: URL;
  readonly signal: AbortSignal;
}

/**
 * The readable part of a page as Markdown: navigation, headers, footers, cookie notices, sidebars, advertisements and
 * everything that is not text are left out. Time and memory grow with the length of the page, however it is nested.
 *
 * @throws the reason of the signal.
 */
export async function htmlToMarkdown(html: string, { base, signal }: ConversionOptions): Promise<string> {
  const writer = new MarkdownWriter(base);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => writer.open(name, attributes),
      onclosetag: () => writer.close(),
      ontext: (text) => writer.text(text),
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );
  for (let at = 0; at < html.length && !writer.isTooDeep; at += STEP_CHARACTERS) {
    signal.throwIfAborted();
    parser.write(html.slice(at, at + STEP_CHARACTERS));
    // oxlint-disable-next-line no-await-in-loop -- gives others a turn
    await nextTurn();
  }
  if (!writer.isTooDeep) parser.end();
  return writer.finish();
}
