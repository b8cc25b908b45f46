import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import type { Command, CommandSpec } from "../process/command-runner.ts";
import type { ToolContext } from "../tool.ts";
import { ToolError } from "../tool-error.ts";
import { loginShells } from "./login-shell.ts";
import { withMemoryLimit } from "./memory-limit.ts";
import { withReport } from "./reported-signal.ts";
import { SettledCommand } from "./settled-command.ts";
import { buildShellEnvironment } from "./shell-environment.ts";
import type { ShellParams } from "./shell-params.ts";
import { shellArguments, shellProgram } from "./shell-program.ts";
import { withSandbox } from "./shell-sandbox.ts";
import { type ShellTurn, shellState } from "./shell-state.ts";
import { keptBytesFor } from "./shell-text.ts";
import { statefulScript } from "./state-script.ts";

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
  const environmentSources = {
    server: context.environment,
    policy: settings.environment,
    secretVariables: context.secretVariables,
    overrides: params.shell_environment_policy,
    extra: params.env,
    isBackground,
  };
  const ownEnvironment = buildShellEnvironment(environmentSources);
  const program = shellProgram({ shell: params.shell, environment: ownEnvironment });
  const login = settings.loginShell
    ? await context.resource(loginShells).state(program, { env: ownEnvironment, signal: context.signal })
    : undefined;
  const env =
    login === undefined
      ? ownEnvironment
      : buildShellEnvironment({ ...environmentSources, login: login.variables });
  const from = login?.definitionsFile;
  const state = params.persistent_shell ? context.resource(shellState) : undefined;
  if (state !== undefined) requireBash(program);
  const stateless = from === undefined ? command : statefulScript(command, { from, into: undefined });
  const begin = { command, from };
  const turn = isBackground ? undefined : await state?.takeTurn(begin, spec.logPath, context.signal);
  const script = turn?.script ?? state?.backgroundScript(begin) ?? stateless;
  let signalFile: string | undefined;
  try {
    const files = { logPath: spec.logPath, stateFile: turn?.stateFile };
    const wrapped = await withSandbox(shellArguments(program, script), files, context);
    signalFile = wrapped.signalFile;
    const keptBytes = keptBytesFor(limits.maxOutput);
    const running = await context.commandRunner.start({
      ...wrapped.spec,
      argv: withMemoryLimit(wrapped.spec.argv, params.memory_limit_bytes),
      ...spec,
      workingDirectory,
      env,
      headBytes: keptBytes,
      tailBytes: keptBytes,
      keepsLeftovers: true,
    });
    if (signalFile === undefined && turn === undefined) return running;
    const settled = new SettledCommand(running, async (end) => {
      await endTurn(turn, context);
      return signalFile === undefined ? end : await withReport(end, signalFile);
    });
    if (turn !== undefined) state?.began(settled, turn);
    return settled;
  } catch (error) {
    await endTurn(turn, context);
    if (signalFile !== undefined) await rm(signalFile, { force: true });
    if (ToolError.isInstance(error) || !TriviumError.isInstance(error)) throw error;
    throw executionFailed(error.message, error);
  }
}

/** Other shells have no way to write down all of their state. */
function requireBash(program: string): void {
  if (basename(program) === "bash") return;
  throw ToolError.invalidField(
    "shell",
    `the shell is ${program}, and persistent_shell needs bash; configure the tool with shell: "bash", or without persistent_shell`,
  );
}

async function endTurn(turn: ShellTurn | undefined, { logger }: Pick<ToolContext, "logger">): Promise<void> {
  await turn?.end().catch((error: unknown) => {
    logger.warn({ error }, "the state of the shell could not be kept");
  });
}

/** A command that could not be started. */
export function executionFailed(message: string, cause?: Error): ToolError {
  return new ToolError(ErrorCode.EXECUTION_FAILED, message, { cause });
}
