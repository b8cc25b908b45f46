import type { CommandEnd } from "../process/command-runner.ts";
import type { ToolOutput, ToolResult } from "../tool.ts";
import { isBareEcho } from "./bare-echo.ts";
import { humanSize } from "./human-size.ts";
import { leftoversEndedNote } from "./leftover-limit.ts";
import { descriptionOf, type ShellRun } from "./shell-run.ts";
import type { ShellTask } from "./shell-task.ts";
import { type CutOutput, softWrap, toPlainText } from "./shell-text.ts";

export interface EndedRun extends ShellRun {
  readonly end: CommandEnd;
  /** It had left something running, and that was one too many for the session. */
  readonly areLeftoversEnded: boolean;
  readonly signal: string | null;
  readonly cut: CutOutput;
  readonly totalBytes: number;
  /** Folder of the shell now. */
  readonly directory: string;
}

/** The answer for a command that has ended. */
export function foregroundResult(run: EndedRun): ToolResult {
  const { signal, cut, totalBytes, outputFile } = run;
  const facts = { exitCode: exitCodeOf(run), signal, cut, totalBytes, outputFile };
  const note = notesOn(run)
    .map((line) => `\n${line}\n`)
    .join("");
  const promptText = defaultText(facts) + note;
  const concisePromptText = conciseText(facts, nextShell(run)) + note;
  return {
    output: endedOutput(run, promptText),
    promptText,
    concisePromptText,
    conciseKeys: { output_for_prompt: concisePromptText },
    truncated: cut.isTruncated,
  };
}

/** The union value `Bash`. */
export function endedOutput(run: EndedRun, promptText: string): ToolOutput {
  const { input, end, signal, cut, totalBytes, outputFile } = run;
  const survivors = end.survivors.map((process) => process.pid);
  return {
    type: "Bash",
    output: cut.bytes,
    output_for_prompt: promptText,
    exit_code: exitCodeOf(run),
    command: input.command,
    truncated: cut.isTruncated,
    signal,
    timed_out: signal === "timeout",
    description: descriptionOf(input),
    current_dir: run.directory,
    output_file: outputFile,
    total_bytes: totalBytes,
    was_bare_echo: isBareEcho(input.command) ? true : undefined,
    survivors: survivors.length === 0 ? undefined : survivors,
  };
}

/** -1 for a command that did not end by itself. */
export function exitCodeOf({ end }: Pick<EndedRun, "end">): number {
  return end.reason === "exited" ? (end.exitCode ?? -1) : -1;
}

/** What the model should know of processes that are still there, or are not any more. */
export function notesOn({ end, areLeftoversEnded }: Pick<EndedRun, "end" | "areLeftoversEnded">): string[] {
  const survivors = end.survivors.map((process) => process.pid).join(", ");
  return [
    ...(survivors === "" ? [] : [`[processes that could not be ended: ${survivors}]`]),
    ...(areLeftoversEnded ? [leftoversEndedNote] : []),
  ];
}

/** The answer for a command that runs in the background. */
export function backgroundResult(run: ShellRun, task: ShellTask, why: "requested" | "time-out"): ToolResult {
  const { input, context, outputFile } = run;
  const what = descriptionOf(input) ?? input.command;
  const summary =
    why === "requested"
      ? `Started in the background: ${what}`
      : `Still running after ${task.durationMs} ms, so it was moved to the background: ${what}`;
  const outputTool = context.toolName("background_task_action");
  const hint =
    outputTool === undefined
      ? `Its output is written to ${outputFile}.`
      : `Call ${outputTool} with task_ids ["${task.taskId}"] for its output and status.`;
  const { pid } = task.running;
  return {
    output: {
      type: "BackgroundTaskStarted",
      task_id: task.taskId,
      task_type: "bash",
      output_file: outputFile,
      status: "running",
      command: input.command,
      summary,
      retrieval_hint: hint,
      pid,
    },
    promptText: [
      `<task-id>${task.taskId}</task-id>`,
      "<task-type>bash</task-type>",
      `<output-file>${outputFile}</output-file>`,
      "<status>running</status>",
      `<summary>${summary}</summary>`,
      hint,
    ].join("\n"),
  };
}

interface Facts {
  readonly exitCode: number;
  readonly signal: string | null;
  readonly cut: CutOutput;
  readonly totalBytes: number;
  readonly outputFile: string;
}

function defaultText(facts: Facts): string {
  const { signal, cut } = facts;
  const other = signal !== null && !isKill(signal) ? ` [signal=${signal}]` : "";
  return `exit: ${endOf(facts)}${cutNote(facts)}${other}\n${softWrap(toPlainText(cut.text))}`;
}

function nextShell({ context, directory }: Pick<EndedRun, "context" | "directory">): string {
  const shell = context.params.persistent_shell ? "in the state of this shell" : "in a new shell session";
  return `The next call starts ${shell}. Its directory is ${directory}.`;
}

function conciseText(facts: Facts, next: string): string {
  const text = toPlainText(facts.cut.text);
  const closing = text === "" || text.endsWith("\n") ? "" : "\n";
  return [
    `Exit code: ${endOf(facts)}${cutNote(facts)}`,
    "",
    "Command output:",
    `\`\`\`\n${text}${closing}\`\`\``,
    "Command completed.",
    next,
  ].join("\n");
}

function endOf({ signal, exitCode }: Facts): string {
  return signal !== null && isKill(signal) ? `killed (${signal})` : String(exitCode);
}

function cutNote({ cut, totalBytes, outputFile }: Facts): string {
  if (!cut.isTruncated) return "";
  const shown = humanSize(cut.bytes.length);
  return ` [truncated: showing first/last ${shown} of ${humanSize(totalBytes)} - full output at: ${outputFile}]`;
}

function isKill(signal: string): boolean {
  return ["timeout", "max_runtime", "cancelled", "killed"].includes(signal) || signal.startsWith("signal ");
}
