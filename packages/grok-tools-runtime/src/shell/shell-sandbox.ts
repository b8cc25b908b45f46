import type { ToolContext } from "../tool.ts";
import { ToolError } from "../tool-error.ts";
import type { ShellParams } from "./shell-params.ts";

/**
 * Arguments that put a command into bubblewrap when that is asked for: the session's folders writable, the rest
 * readable, no network, no other processes. Without the wish the arguments stay as they are.
 *
 * @throws {@link ToolError} INVALID_INPUT when bubblewrap does not work on this machine: a wish for protection is
 * never dropped silently.
 */
export async function withSandbox(
  shellArguments: readonly [string, ...string[]],
  context: ToolContext<ShellParams>,
): Promise<readonly [string, ...string[]]> {
  const { params, settings, commandRunner, sessionDirectory, workingDirectory } = context;
  if ((params.sandbox ?? settings.sandbox) !== "bwrap") return shellArguments;
  const { bubblewrap } = await commandRunner.containment();
  if (!bubblewrap) {
    throw ToolError.invalidField(
      "sandbox",
      "commands are to run inside bubblewrap, but it does not work on this machine; install it, or configure the tool without a sandbox",
    );
  }
  const writable = [...new Set([sessionDirectory, workingDirectory])].flatMap((path) => [
    "--bind",
    path,
    path,
  ]);
  return [
    "bwrap",
    // Without this a root user inside could remount everything writable.
    ...options("--cap-drop ALL --die-with-parent --unshare-pid --unshare-net --unshare-ipc"),
    ...options("--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --tmpfs /run"),
    ...writable,
    "--chdir",
    workingDirectory,
    ...shellArguments,
  ];
}

function options(text: string): string[] {
  return text.split(" ");
}
