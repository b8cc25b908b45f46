import type { ToolSettings } from "../tool-settings.ts";

/** What the card of a tool that asks says while there is a way to answer. */
export function answersPush({ answersQuestions }: ToolSettings): readonly string[] {
  return answersQuestions ? ["answers:push"] : [];
}
