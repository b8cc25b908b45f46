import type { CellOutput } from "../engine/cell-engine.ts";
import { utf8Bytes } from "../wire-size.ts";
import { audioSeconds } from "./audio-seconds.ts";
import { utf8Prefix, utf8Suffix } from "./utf8-cut.ts";

/** Budget of a request that names none. */
export const DEFAULT_OUTPUT_TOKENS = 10_000;

const BYTES_PER_TOKEN = 4;

/** Tokens charged for a second of sound. */
const TOKENS_PER_SECOND = 10;

/** The items cut to a budget of tokens, with a note wherever something is missing. */
export function fitTokenBudget(items: readonly CellOutput[], maxTokens: number): readonly CellOutput[] {
  const texts: string[] = [];
  for (const item of items) {
    if (item.type !== "text") return fitMixed(items, maxTokens);
    texts.push(item.text);
  }
  return fitTexts(items, texts, maxTokens);
}

function fitTexts(
  items: readonly CellOutput[],
  texts: readonly string[],
  maxTokens: number,
): readonly CellOutput[] {
  let joined = "";
  for (const text of texts) joined += joined === "" ? text : `\n${text}`;
  const bytes = utf8Bytes(joined);
  if (bytes <= maxTokens * BYTES_PER_TOKEN) return items;
  const header = [
    `Warning: truncated output (original token count: ${Math.ceil(bytes / BYTES_PER_TOKEN)})`,
    `Total output lines: ${lineCount(joined)}`,
    "",
  ];
  return [{ type: "text", text: [...header, cutMiddle(joined, maxTokens)].join("\n") }];
}

function fitMixed(items: readonly CellOutput[], maxTokens: number): readonly CellOutput[] {
  const kept: CellOutput[] = [];
  let budget = maxTokens;
  let omittedTexts = 0;
  let omittedAudios = 0;
  for (const item of items) {
    if (item.type === "image") {
      kept.push(item);
    } else if (item.type === "audio") {
      const cost = audioTokens(item.url);
      if (cost <= budget) {
        kept.push(item);
        budget -= cost;
      } else omittedAudios++;
    } else if (budget === 0) {
      omittedTexts++;
    } else {
      const cost = tokensOf(item.text);
      kept.push(cost <= budget ? item : { type: "text", text: cutMiddle(item.text, budget) });
      budget = Math.max(0, budget - cost);
    }
  }
  if (omittedTexts > 0) kept.push({ type: "text", text: `[omitted ${omittedTexts} text items ...]` });
  if (omittedAudios > 0) kept.push({ type: "text", text: `[omitted ${omittedAudios} audio items ...]` });
  return kept;
}

/** Keeps the two ends of a text and says how much of the middle is gone. */
function cutMiddle(text: string, maxTokens: number): string {
  const keptBytes = maxTokens * BYTES_PER_TOKEN;
  const leftBytes = Math.floor(keptBytes / 2);
  const missing = Math.ceil((utf8Bytes(text) - keptBytes) / BYTES_PER_TOKEN);
  const left = utf8Prefix(text, leftBytes);
  return `${left}…${missing} tokens truncated…${utf8Suffix(text, keptBytes - leftBytes)}`;
}

function tokensOf(text: string): number {
  return Math.ceil(utf8Bytes(text) / BYTES_PER_TOKEN);
}

function audioTokens(url: string): number {
  const seconds = audioSeconds(url);
  return seconds === undefined ? tokensOf(url) : Math.ceil(TOKENS_PER_SECOND * seconds);
}

/** Lines of a text; a newline at its end adds none. */
function lineCount(text: string): number {
  if (text === "") return 0;
  let count = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
