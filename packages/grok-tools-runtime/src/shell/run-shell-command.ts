import { abortReason, sleep, TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import type { Command, CommandEnd } from "../process/command-runner.ts";
import type { ToolContext, ToolResult } from "../tool.ts";
import { ToolError } from "../tool-error.ts";
import { checkCommand } from "./check-command.ts";
import { effectiveTimeout } from "./effective-timeout.ts";
import { reportProgress } from "./report-progress.ts";
import { buildShellEnvironment } from "./shell-environment.ts";
import type { ShellInput } from "./shell-input.ts";
import type { ShellParams } from "./shell-params.ts";
import { shellArguments } from "./shell-program.ts";
import { backgroundResult, foregroundResult } from "./shell-result.ts";
import { descriptionOf, type ShellRun } from "./shell-run.ts";
import { withSandbox } from "./shell-sandbox.ts";
import { signalOf } from "./shell-task.ts";
import { keptBytesFor } from "./shell-text.ts";
import { taskRegistry } from "./task-registry.ts";

/** Time between SIGTERM and SIGKILL when a call ends before its command. */
const CANCEL_GRACE_MS = 500;
const TIMEOUT_GRACE_MS = 1000;

/** Runs a command in the foreground or starts it in the background. */
export async function runShellCommand(
  input: ShellInput,
  context: ToolContext<ShellParams>,
): Promise<ToolResult> {
  checkCommand(input, context);
  const { params, environment } = context;
  const registry = context.resource(taskRegistry);
  registry.tellsCompletions = params.surface_bg_completion_reminders;
  const isBackground = input.is_background;
  // The deadline of a call that only starts a task says nothing about the task.
  const timeoutMs = input.timeout ?? (isBackground ? undefined : context.timeoutMs);
  const timeout = effectiveTimeout({ timeoutMs, isBackground, params, environment });
  const outputFile = await registry.openLog(context.callId);
  const run: ShellRun = { input, context, timeout, outputFile, command: executedText(input, params) };
  const running = await startCommand(run).catch((error: unknown) => {
    registry.closeLog(outputFile);
    throw error;
  });
  // What it leaves running goes on writing.
  void running.vacated.then(() => registry.closeLog(outputFile));
  if (isBackground) {
    // Nobody would learn its id.
    if (context.signal.aborted) return await cancel(running, context.signal);
    return handOver(run, running, { taskId: context.ids.timeOrderedUuid(), why: "requested" });
  }
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
  if (end.reason === "spawn-failed")
    throw executionFailed(end.spawnError ?? "the command could not be started");
  return foregroundResult({
    ...run,
    end,
    areLeftoversEnded: hasLeftovers && !isKept,
    signal: signalOf(end, timeout.isMaxRunTime),
    kept: await running.output(),
  });
}

function executedText({ command }: ShellInput, { cmd_prefix: prefix }: ShellParams): string {
  return prefix === null || prefix.trim() === "" ? command : `${prefix} && ${command}`;
}

async function startCommand({ input, context, timeout, outputFile, command }: ShellRun): Promise<Command> {
  const { params, settings, limits, workingDirectory } = context;
  const env = buildShellEnvironment({
    server: context.environment,
    policy: settings.environment,
    secretVariables: context.secretVariables,
    overrides: params.shell_environment_policy,
    extra: params.env,
    isBackground: input.is_background,
  });
  const wrapped = await withSandbox(
    shellArguments(command, { shell: params.shell, isLogin: settings.loginShell, environment: env }),
    context,
  );
  const keptBytes = keptBytesFor(limits.maxOutput);
  const isCallDeadline =
    !input.is_background && input.timeout === undefined && context.timeoutMs !== undefined;
  try {
    return await context.commandRunner.start({
      ...wrapped,
      workingDirectory,
      env,
      timeoutMs: timeout.runMs,
      countsWaiting: isCallDeadline && !timeout.isMaxRunTime,
      timeoutGraceMs: isCallDeadline ? CANCEL_GRACE_MS : TIMEOUT_GRACE_MS,
      logPath: outputFile,
      headBytes: keptBytes,
      tailBytes: keptBytes,
      keepsLeftovers: true,
    });
  } catch (error) {
    if (!TriviumError.isInstance(error)) throw error;
    throw executionFailed(error.message, error);
  }
}

/** Waits for the end. Undefined: the call has waited long enough, the command goes on. */
async function foregroundEnd(
  { context, timeout }: ShellRun,
  running: Command,
): Promise<CommandEnd | undefined> {
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
    return first === "aborted" ? await cancel(running, signal) : first;
  } finally {
    waiting.abort();
  }
}

/** The call has ended: so does the command, with all it has started. */
async function cancel(running: Command, signal: AbortSignal): Promise<never> {
  await running.kill("cancelled", CANCEL_GRACE_MS);
  await running.release();
  throw abortReason(signal);
}

function handOver(
  run: ShellRun,
  running: Command,
  { taskId, why }: { taskId: string; why: "requested" | "time-out" },
): ToolResult {
  const { input, context, timeout, outputFile, command } = run;
  const task = context.resource(taskRegistry).add({
    taskId,
    command,
    running,
    workingDirectory: context.workingDirectory,
    outputFile,
    description: descriptionOf(input),
    isMaxRunTime: timeout.isMaxRunTime,
  });
  return backgroundResult(run, task, why);
}

function executionFailed(message: string, cause?: Error): ToolError {
  return new ToolError(ErrorCode.EXECUTION_FAILED, message, { cause });
}
