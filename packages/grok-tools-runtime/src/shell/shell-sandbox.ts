import { realpath, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  BUBBLEWRAP,
  bubblewrapOptions,
  mountOptions,
  NO_NETWORK,
  type SandboxMount,
  usualMounts,
} from "../process/bubblewrap.ts";
import type { CommandSpec } from "../process/command-runner.ts";
import type { ToolContext } from "../tool.ts";
import { ToolError } from "../tool-error.ts";
import { logFolder } from "./log-folder.ts";
import { reportingSignals } from "./reported-signal.ts";
import type { ShellParams } from "./shell-params.ts";

/** What to run instead of a command. */
export interface WrappedCommand {
  readonly spec: Pick<CommandSpec, "argv" | "wrapper">;
  /** File that tells whether a signal ended the command, since the wrapper does not; see {@link reportingSignals}. */
  readonly signalFile: string | undefined;
}

/** Files of a command. */
export interface SandboxFiles {
  readonly logPath: string;
  /** A file of its own, which it may write. */
  readonly stateFile?: string | undefined;
}

/**
 * Arguments that put a command into bubblewrap when that is asked for: the session's folders writable, the rest
 * readable, no network unless the server allows it, no other processes, and of the server's data folder only the logs of this session. Without the
 * wish the arguments stay as they are.
 *
 * @throws {@link ToolError} INVALID_INPUT when bubblewrap does not work on this machine: a wish for protection is
 * never dropped silently.
 */
export async function withSandbox(
  shellArguments: readonly [string, ...string[]],
  { logPath, stateFile }: SandboxFiles,
  context: ToolContext<ShellParams>,
): Promise<WrappedCommand> {
  const { params, settings, commandRunner, sessionDirectory, workingDirectory } = context;
  if ((params.sandbox ?? settings.sandbox) !== "bwrap")
    return { spec: { argv: shellArguments }, signalFile: undefined };
  const { bubblewrap } = await commandRunner.containment();
  if (!bubblewrap) {
    throw ToolError.invalidField(
      "sandbox",
      "commands are to run inside bubblewrap, but it does not work on this machine; install it, or configure the tool without a sandbox",
    );
  }
  const data = await realpath(context.dataDir);
  const logs = await realpath(logFolder(context.sessionFolder));
  const signalFile = join(logs, `${basename(logPath)}.signal`);
  const reporting = reportingSignals(shellArguments, signalFile);
  if (reporting !== undefined) await writeFile(signalFile, "", { mode: 0o600 });
  const mounts: SandboxMount[] = [
    ...usualMounts,
    { path: data, kind: "--tmpfs" },
    { path: logs, kind: "--ro-bind" },
    ...(reporting === undefined ? [] : [{ path: signalFile, kind: "--bind" } as const]),
    ...(stateFile === undefined ? [] : [{ path: stateFile, kind: "--bind" } as const]),
    ...[...new Set([sessionDirectory, workingDirectory])].map((path) => ({ path, kind: "--bind" }) as const),
  ];
  const argv: CommandSpec["argv"] = [
    BUBBLEWRAP,
    ...(settings.sandboxNetwork ? [] : [NO_NETWORK]),
    ...bubblewrapOptions,
    ...mountOptions(mounts),
    "--chdir",
    workingDirectory,
    ...(reporting ?? shellArguments),
  ];
  return {
    spec: { argv, wrapper: BUBBLEWRAP },
    signalFile: reporting === undefined ? undefined : signalFile,
  };
}
