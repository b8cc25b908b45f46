import { runShellCommand } from "../../../shell/run-shell-command.ts";
import type { shellInput } from "../../../shell/shell-input.ts";
import type { ShellParams } from "../../../shell/shell-params.ts";
import { shellTool } from "../../../shell/shell-tool.ts";
import { defineTool, type Tool } from "../../../tool.ts";

/** GrokBuild:run_terminal_cmd: a shell command in the foreground or background. */
export const runTerminalCmd: Tool = defineTool<typeof shellInput, ShellParams>({
  ...shellTool,
  id: "GrokBuild:run_terminal_cmd",
  behaviorVersions: [
    { version: "current", lifecycle: "active" },
    { version: "legacy-0.4.10", lifecycle: "active" },
  ],
  run: runShellCommand,
});
