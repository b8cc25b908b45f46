import { abortReason, sleep } from "@trivium/core";
import type { Command, CommandEnd } from "../process/command-runner.ts";
import type { ToolContext, ToolResult } from "../tool.ts";
import { checkCommand } from "./check-command.ts";
import { CommandNotices } from "./command-notices.ts";
import { effectiveTimeout } from "./effective-timeout.ts";
import { reportProgress } from "./report-progress.ts";
import type { ShellInput } from "./shell-input.ts";
import type { ShellParams } from "./shell-params.ts";
import { backgroundResult, type EndedRun, foregroundResult } from "./shell-result.ts";
import { descriptionOf, type ShellRun } from "./shell-run.ts";
import { shellState } from "./shell-state.ts";
import { signalOf } from "./shell-task.ts";
import { cutOutput } from "./shell-text.ts";
import { type CommandStart, executedText, executionFailed, startCommand } from "./start-command.ts";
import { taskRegistry } from "./task-registry.ts";

/** Time between SIGTERM and SIGKILL when a call ends before its command. */
const CANCEL_GRACE_MS = 500;
const TIMEOUT_GRACE_MS = 1000;

/** What a shell tool does its own way. */
export interface ShellVariant {
  /** The answer for a command that has ended. */
  readonly render?: (run: EndedRun) => ToolResult;
  /** Longest time a foreground call may take, in milliseconds. */
  readonly clampMs?: number;
}

/** Runs a command in the foreground or starts it in the background. */
export async function runShellCommand(
  input: ShellInput,
  context: ToolContext<ShellParams>,
  { render = foregroundResult, clampMs }: ShellVariant = {},
): Promise<ToolResult> {
  checkCommand(input, context);
  const { params, environment } = context;
  const registry = context.resource(taskRegistry);
  registry.tellsCompletions = params.surface_bg_completion_reminders;
  const isBackground = input.is_background;
  // The deadline of a call that only starts a task says nothing about the task.
  const timeoutMs = input.timeout ?? (isBackground ? undefined : context.timeoutMs);
  const timeout = effectiveTimeout({ timeoutMs, isBackground, params, environment, clampMs });
  const outputFile = await registry.openLog(context.callId);
  const run: ShellRun = {
    input,
    context,
    timeout,
    outputFile,
    command: executedText(input.command, params),
    notices: new CommandNotices({ command: input.command, timeoutMs: timeout.runMs }, context),
  };
  const running = await startRun(run).catch((error: unknown) => {
    registry.closeLog(outputFile);
    if (error instanceof Error) run.notices.failed(error.message);
    throw error;
  });
  // What it leaves running goes on writing.
  void running.vacated.then(() => registry.closeLog(outputFile));
  if (isBackground) {
    // Nobody would learn its id.
    if (context.signal.aborted) return await cancel(run, running);
    return handOver(run, running, { taskId: context.ids.timeOrderedUuid(), why: "requested" });
  }
  run.notices.follow(running);
  const end = await foregroundEnd(run, running);
  if (end === undefined) {
    // The id of the call, unless an earlier call had the same one.
    const isFree = registry.get(context.callId) === undefined;
    const taskId = isFree ? context.callId : context.ids.timeOrderedUuid();
    return handOver(run, running, { taskId, why: "time-out" });
  }
  const hasLeftovers = end.leftovers.length > 0;
  const isKept = hasLeftovers && registry.keepLeftovers(running);
  const release = isKept ? undefined : running.release();
  if (hasLeftovers) await release;
  if (end.reason === "spawn-failed") {
    const why = end.spawnError ?? "the command could not be started";
    run.notices.failed(why);
    throw executionFailed(why);
  }
  const ended = await endOf(run, running, end);
  run.notices.ended(ended);
  return render({ ...run, ...ended, areLeftoversEnded: hasLeftovers && !isKept });
}

function startRun({ input, context, timeout, outputFile, command }: ShellRun): Promise<Command> {
  const isBackground = input.is_background;
  const isCallDeadline = !isBackground && input.timeout === undefined && context.timeoutMs !== undefined;
  const start: CommandStart = {
    command,
    isBackground,
    timeoutMs: timeout.runMs,
    countsWaiting: isCallDeadline && !timeout.isMaxRunTime,
    timeoutGraceMs: isCallDeadline ? CANCEL_GRACE_MS : TIMEOUT_GRACE_MS,
    logPath: outputFile,
  };
  return startCommand(start, context);
}

async function endOf(
  { context, timeout }: ShellRun,
  running: Command,
  end: CommandEnd,
): Promise<Omit<EndedRun, keyof ShellRun | "areLeftoversEnded">> {
  const directory = directoryAfter(context);
  const kept = await running.output();
  return {
    directory,
    end,
    signal: signalOf(end, timeout.isMaxRunTime),
    cut: cutOutput(kept, context.limits.maxOutput),
    totalBytes: kept.totalBytes,
  };
}

/** The folder the next command begins in. */
function directoryAfter(context: ToolContext<ShellParams>): string {
  const kept = context.params.persistent_shell ? context.resource(shellState).directory : undefined;
  return kept ?? context.workingDirectory;
}

/** Waits for the end. Undefined: the call has waited long enough, the command goes on. */
async function foregroundEnd(run: ShellRun, running: Command): Promise<CommandEnd | undefined> {
  const { context, timeout } = run;
  const { signal, clock } = context;
  const waiting = new AbortController();
  const aborted = new Promise<"aborted">((resolve) => {
    if (signal.aborted) resolve("aborted");
    else signal.addEventListener("abort", () => resolve("aborted"), { once: true, signal: waiting.signal });
  });
  const hasWaited =
    timeout.blockMs === undefined
      ? []
      : [
          sleep(clock, timeout.blockMs, waiting.signal).then(
            () => undefined,
            () => undefined,
          ),
        ];
  void reportProgress(running, context, waiting.signal);
  try {
    const first = await Promise.race([running.ended, aborted, ...hasWaited]);
    return first === "aborted" ? await cancel(run, running) : first;
  } finally {
    waiting.abort();
  }
}

/** The call has ended: so does the command, with all it has started. */
async function cancel(run: ShellRun, running: Command): Promise<never> {
  const end = await running.kill("cancelled", CANCEL_GRACE_MS);
  await running.release();
  run.notices.ended(await endOf(run, running, end));
  throw abortReason(run.context.signal);
}

function handOver(
  run: ShellRun,
  running: Command,
  { taskId, why }: { taskId: string; why: "requested" | "time-out" },
): ToolResult {
  const { input, context, timeout, outputFile, command, notices } = run;
  const description = descriptionOf(input);
  if (context.params.persistent_shell) context.resource(shellState).detach(running);
  notices.backgrounded({ taskId, outputFile, description });
  if (why === "requested") notices.follow(running);
  const task = context.resource(taskRegistry).add({
    taskId,
    command,
    running,
    workingDirectory: context.workingDirectory,
    outputFile,
    description,
    isMaxRunTime: timeout.isMaxRunTime,
    maxOutput: context.limits.maxOutput,
  });
  return backgroundResult(run, task, why);
}
