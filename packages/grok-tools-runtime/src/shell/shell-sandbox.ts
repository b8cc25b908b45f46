import { realpath } from "node:fs/promises";
import {
  BUBBLEWRAP,
  bubblewrapOptions,
  mountOptions,
  type SandboxMount,
  usualMounts,
} from "../process/bubblewrap.ts";
import type { CommandSpec } from "../process/command-runner.ts";
import type { ToolContext } from "../tool.ts";
import { ToolError } from "../tool-error.ts";
import type { ShellParams } from "./shell-params.ts";
import { logFolder } from "./task-registry.ts";

/**
 * Arguments that put a command into bubblewrap when that is asked for: the session's folders writable, the rest
 * readable, no network, no other processes, and of the server's data folder only the logs of this session. Without the
 * wish the arguments stay as they are.
 *
 * @throws {@link ToolError} INVALID_INPUT when bubblewrap does not work on this machine: a wish for protection is
 * never dropped silently.
 */
export async function withSandbox(
  shellArguments: readonly [string, ...string[]],
  context: ToolContext<ShellParams>,
): Promise<Pick<CommandSpec, "argv" | "wrapper">> {
  const { params, settings, commandRunner, sessionDirectory, workingDirectory } = context;
  if ((params.sandbox ?? settings.sandbox) !== "bwrap") return { argv: shellArguments };
  const { bubblewrap } = await commandRunner.containment();
  if (!bubblewrap) {
    throw ToolError.invalidField(
      "sandbox",
      "commands are to run inside bubblewrap, but it does not work on this machine; install it, or configure the tool without a sandbox",
    );
  }
  const data = await realpath(context.dataDir);
  const logs = await realpath(logFolder(context.sessionFolder));
  const mounts: SandboxMount[] = [
    ...usualMounts,
    { path: data, kind: "--tmpfs" },
    { path: logs, kind: "--ro-bind" },
    ...[...new Set([sessionDirectory, workingDirectory])].map((path) => ({ path, kind: "--bind" }) as const),
  ];
  return {
    argv: [
      BUBBLEWRAP,
      ...bubblewrapOptions,
      ...mountOptions(mounts),
      "--chdir",
      workingDirectory,
      ...shellArguments,
    ],
    wrapper: BUBBLEWRAP,
  };
}
