import type { CellItem } from "../outcome.ts";
import { utf8Bytes, utf8Prefix, utf8Suffix } from "../utf8-text.ts";
import { audioSeconds } from "./audio-seconds.ts";

const BYTES_PER_TOKEN = 4;
/** Tokens charged for a second of sound. */
const TOKENS_PER_SECOND = 10;

/** The items cut to a budget of tokens, as a bounded session cuts them, with a note wherever something is missing. */
export function fitOutput(items: readonly CellItem[], maxTokens: number): readonly CellItem[] {
  const texts: string[] = [];
  for (const item of items) {
    if (item.type !== "text") return fitMixed(items, maxTokens);
    texts.push(item.text);
  }
  const joined = texts.reduce((before, text) => (before === "" ? text : `${before}\n${text}`), "");
  const bytes = utf8Bytes(joined);
  if (bytes <= maxTokens * BYTES_PER_TOKEN) return items;
  const lines = [
    `Warning: truncated output (original token count: ${Math.ceil(bytes / BYTES_PER_TOKEN)})`,
    `Total output lines: ${lineCount(joined)}`,
    "",
    cutMiddle(joined, maxTokens),
  ];
  return [{ type: "text", text: lines.join("\n") }];
}

function fitMixed(items: readonly CellItem[], maxTokens: number): readonly CellItem[] {
  let budget = maxTokens;
  const omitted = { text: 0, audio: 0 };
  const kept = items.flatMap((item): CellItem[] => {
    if (item.type === "image") return [item];
    if (item.type === "text" && budget > 0) {
      const cost = tokensOf(item.text);
      const fitting = cost <= budget ? item : { type: "text" as const, text: cutMiddle(item.text, budget) };
      budget = Math.max(0, budget - cost);
      return [fitting];
    }
    const cost = item.type === "audio" ? audioTokens(item.url) : Number.POSITIVE_INFINITY;
    if (cost > budget) {
      omitted[item.type]++;
      return [];
    }
    budget -= cost;
    return [item];
  });
  if (omitted.text > 0) kept.push({ type: "text", text: `[omitted ${omitted.text} text items ...]` });
  if (omitted.audio > 0) kept.push({ type: "text", text: `[omitted ${omitted.audio} audio items ...]` });
  return kept;
}

/** Keeps the two ends of a text and says how much of the middle is gone. */
function cutMiddle(text: string, maxTokens: number): string {
  const keptBytes = maxTokens * BYTES_PER_TOKEN;
  const leftBytes = Math.floor(keptBytes / 2);
  const missing = Math.ceil((utf8Bytes(text) - keptBytes) / BYTES_PER_TOKEN);
  return `${utf8Prefix(text, leftBytes)}…${missing} tokens truncated…${utf8Suffix(text, keptBytes - leftBytes)}`;
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
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
