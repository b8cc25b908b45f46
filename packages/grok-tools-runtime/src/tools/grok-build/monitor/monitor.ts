import { abortReason } from "@trivium/core";
import { CommandNotices } from "../../../shell/command-notices.ts";
import { type ShellParams, shellParams } from "../../../shell/shell-params.ts";
import { executedText, startCommand } from "../../../shell/start-command.ts";
import { taskRegistry } from "../../../shell/task-registry.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";
import { MAX_TIMEOUT_MS, type MonitorInput, monitorInput, monitorOutput } from "./monitor-schemas.ts";
import { watchLines } from "./watch-lines.ts";

const TIMEOUT_GRACE_MS = 1000;
const CANCEL_GRACE_MS = 500;

/** GrokBuild:monitor: a background command whose lines become events of the session's host. */
export const monitor: Tool = defineTool<typeof monitorInput, ShellParams>({
  id: "GrokBuild:monitor",
  kind: "monitor",
  capabilities: {
    readOnly: false,
    cancellable: true,
    alwaysBackground: true,
    supportsTimeout: true,
    unlimitedCalls: true,
  },
  description: `Runs a command in the background and reports each line it prints as an event.

- Use it to watch something: a log, a build, a file, a process. The call returns at once; events come by themselves, so do not poll.
- Print only what matters, for example through \`grep --line-buffered\`: at most ten events at once and then one every two seconds get through, and a command that prints too much for half a minute is ended.
- It ends at its \`\${{ params.monitor.timeout_ms }}\`; with \`\${{ params.monitor.persistent }}\` it runs until it is ended or the session ends.`,
  input: monitorInput,
  // It runs commands, so it runs them as the shell tool does: same environment, same sandbox.
  params: shellParams,
  output: monitorOutput,
  resources: [taskRegistry],
  run: runMonitor,
});

async function runMonitor(input: MonitorInput, context: ToolContext<ShellParams>): Promise<ToolResult> {
  const { persistent } = input;
  const timeoutMs = persistent ? 0 : deadlineOf(input, context);
  const registry = context.resource(taskRegistry);
  const { taskId, outputFile } = await start(input, timeoutMs, context).catch((error: unknown) => {
    if (error instanceof Error && !context.signal.aborted)
      noticesOf(input, timeoutMs, context).failed(error.message);
    throw error;
  });
  const kill = registry.toolName("kill_task_action");
  const how =
    timeoutMs > 0
      ? `timeout ${timeoutMs}ms`
      : `persistent: it runs until ${kill === undefined ? "the session ends" : `you end it with ${kill} or the session ends`}`;
  return {
    output: { type: "Monitor", taskId, timeoutMs, persistent },
    promptText: `Monitor started (task ${taskId}, ${how}). Its lines arrive as events by themselves: go on with other work and do not poll. All of its output is in ${outputFile}.`,
  };
}

/** In milliseconds; 0: none. */
function deadlineOf(
  { timeout_ms: given }: MonitorInput,
  { parameterName }: ToolContext<ShellParams>,
): number {
  const timeoutMs = given ?? MAX_TIMEOUT_MS;
  if (timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs;
  const field = parameterName("timeout_ms");
  throw ToolError.invalidField(
    field,
    `${field} is ${timeoutMs}, at most ${MAX_TIMEOUT_MS} is possible; set ${parameterName("persistent")} to true to watch without a deadline`,
  );
}

function noticesOf(
  { command }: MonitorInput,
  timeoutMs: number,
  context: ToolContext<ShellParams>,
): CommandNotices {
  return new CommandNotices({ command, timeoutMs }, context);
}

async function start(
  input: MonitorInput,
  timeoutMs: number,
  context: ToolContext<ShellParams>,
): Promise<{ taskId: string; outputFile: string }> {
  const { clock, logger, sessionId, workingDirectory, limits } = context;
  const registry = context.resource(taskRegistry);
  const outputFile = await registry.openLog(`monitor-${context.callId}`);
  const command = executedText(input.command, context.params);
  const running = await startCommand(
    {
      command,
      isBackground: true,
      timeoutMs: timeoutMs > 0 ? timeoutMs : undefined,
      timeoutGraceMs: TIMEOUT_GRACE_MS,
      logPath: outputFile,
    },
    context,
  ).catch((error: unknown) => {
    registry.closeLog(outputFile);
    throw error;
  });
  void running.vacated.then(() => registry.closeLog(outputFile));
  if (context.signal.aborted) {
    // Nobody would learn its id.
    await running.kill("cancelled", CANCEL_GRACE_MS);
    await running.release();
    throw abortReason(context.signal);
  }
  const { description } = input;
  const taskId = context.ids.timeOrderedUuid();
  noticesOf(input, timeoutMs, context).backgrounded({ taskId, outputFile, description, isMonitor: true });
  const tell = (text: string): void =>
    context.notify({
      type: "MonitorEvent",
      task_id: taskId,
      description,
      event_text: eventText({ description, taskId, text }),
      raw_text: text,
      owner_session_id: sessionId,
    });
  registry.add({
    taskId,
    command,
    displayCommand: `[monitor] ${description}`,
    kind: "monitor",
    running,
    workingDirectory,
    outputFile,
    description,
    isMaxRunTime: false,
    maxOutput: limits.maxOutput,
    // The last lines come before the end.
    toldBefore: watchLines({ running, clock, logger, tell }),
  });
  return { taskId, outputFile };
}

function eventText(event: { description: string; taskId: string; text: string }): string {
  const label = event.description.replaceAll('"', "'").replaceAll(/[\r\n]+/g, " ");
  // A line must not end the event and speak for itself.
  const text = event.text.replaceAll("</monitor-event", "<\\/monitor-event");
  return `<monitor-event description="${label}" task_id="${event.taskId}">\n${text}\n</monitor-event>`;
}
