import { rm } from "node:fs/promises";
import { TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import type { Command, CommandSpec } from "../process/command-runner.ts";
import type { ToolContext } from "../tool.ts";
import { ToolError } from "../tool-error.ts";
import { SignalReportingCommand } from "./reported-signal.ts";
import { buildShellEnvironment } from "./shell-environment.ts";
import type { ShellParams } from "./shell-params.ts";
import { shellArguments } from "./shell-program.ts";
import { withSandbox } from "./shell-sandbox.ts";
import { keptBytesFor } from "./shell-text.ts";

/** One command to start, with what its tool knows about its time. */
export interface CommandStart
  extends Pick<CommandSpec, "timeoutMs" | "countsWaiting" | "timeoutGraceMs" | "logPath"> {
  /** As it is executed, see {@link executedText}. */
  readonly command: string;
  readonly isBackground: boolean;
}

/** The text a shell gets, with a configured prefix. */
export function executedText(command: string, { cmd_prefix: prefix }: ShellParams): string {
  return prefix === null || prefix.trim() === "" ? command : `${prefix} && ${command}`;
}

/**
 * Starts a command in the shell, environment and sandbox that are configured.
 *
 * @throws {@link ToolError} EXECUTION_FAILED when it cannot be started, INVALID_INPUT for a sandbox that does not work.
 */
export async function startCommand(start: CommandStart, context: ToolContext<ShellParams>): Promise<Command> {
  const { params, settings, limits, workingDirectory } = context;
  const { command, isBackground, ...spec } = start;
  const env = buildShellEnvironment({
    server: context.environment,
    policy: settings.environment,
    secretVariables: context.secretVariables,
    overrides: params.shell_environment_policy,
    extra: params.env,
    isBackground,
  });
  const wrapped = await withSandbox(
    shellArguments(command, { shell: params.shell, isLogin: settings.loginShell, environment: env }),
    spec.logPath,
    context,
  );
  const keptBytes = keptBytesFor(limits.maxOutput);
  try {
    const running = await context.commandRunner.start({
      ...wrapped.spec,
      ...spec,
      workingDirectory,
      env,
      headBytes: keptBytes,
      tailBytes: keptBytes,
      keepsLeftovers: true,
    });
    return wrapped.signalFile === undefined
      ? running
      : new SignalReportingCommand(running, wrapped.signalFile);
  } catch (error) {
    if (wrapped.signalFile !== undefined) await rm(wrapped.signalFile, { force: true });
    if (!TriviumError.isInstance(error)) throw error;
    throw executionFailed(error.message, error);
  }
}

/** A command that could not be started. */
export function executionFailed(message: string, cause?: Error): ToolError {
  return new ToolError(ErrorCode.EXECUTION_FAILED, message, { cause });
}
