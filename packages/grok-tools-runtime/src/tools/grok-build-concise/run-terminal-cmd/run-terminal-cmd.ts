import { runShellCommand } from "../../../shell/run-shell-command.ts";
import type { shellInput } from "../../../shell/shell-input.ts";
import type { ShellParams } from "../../../shell/shell-params.ts";
import { shellTool } from "../../../shell/shell-tool.ts";
import { defineTool, type Tool, type ToolResult } from "../../../tool.ts";

/** GrokBuildConcise:run_terminal_cmd: as the GrokBuild tool, with the concise text. */
export const runTerminalCmdConcise: Tool = defineTool<typeof shellInput, ShellParams>({
  ...shellTool,
  id: "GrokBuildConcise:run_terminal_cmd",
  run: async (input, context) => withConciseText(await runShellCommand(input, context)),
});

function withConciseText(result: ToolResult): ToolResult {
  const { concisePromptText = result.promptText, conciseKeys, output } = result;
  return { ...result, promptText: concisePromptText, output: { ...output, ...conciseKeys } };
}
