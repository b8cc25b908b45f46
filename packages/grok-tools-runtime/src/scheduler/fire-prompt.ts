import { shorten } from "../shorten.ts";
import { describeInterval } from "./interval.ts";
import type { ScheduledTask } from "./scheduled-task.ts";

/** Characters of the last run's text that a fresh conversation is told. */
const SUMMARY_LENGTH = 600;

/** What a child is told: which task it is, how the last run ended when it cannot know, then the prompt itself. */
export function firePrompt(task: ScheduledTask, lastOutput: string | undefined): string {
  const summary =
    lastOutput === undefined || lastOutput.trim() === ""
      ? []
      : [`The run before ended with: ${withoutTags(shorten(lastOutput.trim(), SUMMARY_LENGTH))}`];
  return [
    "<system-reminder>",
    `This is a run of the scheduled task ${task.id} (${describeInterval(task.intervalSecs)}). Nobody waits for it and nobody answers questions: do what the prompt asks, then end with a short report. Do not schedule anything.`,
    ...summary,
    "</system-reminder>",
    "",
    task.prompt,
  ].join("\n");
}

/** A text of a child must not look like the end of the reminder it is quoted in. */
function withoutTags(text: string): string {
  return text.replaceAll(/<(?=\/?system-reminder)/gi, "<\\");
}
