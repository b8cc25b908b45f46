import { z } from "zod";
import type { CommandResult } from "../ports/toolbox-port.ts";
import { defineTool, failed, type Tool, wholeNumber } from "./tool.ts";

const DEFAULT_TIMEOUT_SECONDS = 120;
const MAX_TIMEOUT_SECONDS = 600;
const MAX_STREAM_CHARS = 100_000;

export const bash: Tool = defineTool({
  name: "Bash",
  description:
    "Runs a command in a fresh bash, in the working directory, with empty standard input. Nothing of the shell's state is kept for the next call.",
  input: z.object({
    command: z.string().describe("The command."),
    timeout: wholeNumber(`Seconds, ${DEFAULT_TIMEOUT_SECONDS} if absent, at most ${MAX_TIMEOUT_SECONDS}.`),
  }),
  isReadOnly: false,
  isConcurrencySafe: false,
  check({ command, timeout }) {
    if (command.trim() === "") return "command: must not be blank";
    return timeout !== undefined && timeout < 1 ? "timeout: must be at least 1 second" : undefined;
  },
  async run({ command, timeout = DEFAULT_TIMEOUT_SECONDS }, { toolbox, signal, environment }) {
    const seconds = Math.min(timeout, MAX_TIMEOUT_SECONDS);
    const done = await toolbox.runCommand({
      command,
      environment,
      timeoutMs: seconds * 1000,
      maxOutputChars: MAX_STREAM_CHARS,
      signal,
    });
    if (done.kind === "failure") return failed(`Error: ${done.message}`);
    return {
      result: commandText(done, seconds),
      isError: done.isTimedOut || done.exitCode !== 0,
      data: {
        stdout: done.stdout,
        stderr: done.stderr,
        exit_code: done.exitCode,
        timed_out: done.isTimedOut,
        truncated: done.isTruncated,
      },
    };
  },
});

function commandText(
  { stdout, stderr, exitCode, signal, isTimedOut }: CommandResult,
  seconds: number,
): string {
  const parts: string[] = [];
  if (stdout !== "") parts.push(withoutFinalNewline(stdout));
  if (stderr !== "") parts.push(`stderr:\n${withoutFinalNewline(stderr)}`);
  if (isTimedOut) parts.push(`timed out after ${seconds} s`);
  else if (exitCode === null) parts.push(`ended by signal ${signal ?? "unknown"}`);
  else if (exitCode !== 0) parts.push(`Exit code: ${exitCode}`);
  return parts.length === 0 ? "(no output)" : parts.join("\n");
}

function withoutFinalNewline(text: string): string {
  return text.replace(/\r?\n$/, "");
}
