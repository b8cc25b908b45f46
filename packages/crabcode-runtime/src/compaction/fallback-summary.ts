import type { Message } from "../conversation/message.ts";
import { SUMMARY_START } from "./summary-texts.ts";

const FIRST_TEXT_CHARS = 200;
const OBJECTIVE = "Objective: ";

/** What can be said of messages without a model: the first words, the tools, how many they are. */
export function fallbackSummary(messages: readonly Message[]): string {
  const blocks = messages.flatMap(({ content }) => content);
  const tools = new Set(blocks.flatMap((block) => (block.type === "tool_use" ? [block.name] : [])));
  const text = firstText(messages);
  return [
    ...(text === "" ? [] : [OBJECTIVE + text]),
    ...(tools.size === 0 ? [] : [`Tools used: ${[...tools].join(", ")}`]),
    `${messages.length} earlier messages are left out. Read files again where you need to know more.`,
  ].join("\n");
}

/** The first words of a person, also when an earlier compaction has only kept them in its summary. */
function firstText(messages: readonly Message[]): string {
  for (const { role, content } of messages) {
    if (role !== "user") continue;
    for (const block of content) {
      if (block.type !== "text") continue;
      const text = block.text.startsWith(SUMMARY_START) ? block.text.slice(SUMMARY_START.length) : block.text;
      return text.trim().replace(OBJECTIVE, "").slice(0, FIRST_TEXT_CHARS).toWellFormed();
    }
  }
  return "";
}
