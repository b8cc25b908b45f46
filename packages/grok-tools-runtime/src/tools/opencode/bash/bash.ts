import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import { realDirectory } from "../../../execute/call-directory.ts";
import { toModelPath } from "../../../files/model-path.ts";
import { assertPathInsideRoots, isInsideRoots } from "../../../files/path-jail.ts";
import { absentable, lenientInteger } from "../../../input/lenient.ts";
import { runShellCommand } from "../../../shell/run-shell-command.ts";
import { shellOutput } from "../../../shell/shell-input.ts";
import { type ShellParams, shellParams } from "../../../shell/shell-params.ts";
import { taskRegistry } from "../../../shell/task-registry.ts";
import { defineTool, type Tool, type ToolContext } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";
import { bashResult } from "./bash-result.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
const BUILT_IN_MAX_CHARACTERS = 20_000;

/** OpenCode:bash: a shell command in the foreground. */
export const bash: Tool = defineTool({
  id: "OpenCode:bash",
  kind: "execute",
  capabilities: {
    readOnly: false,
    cancellable: true,
    streaming: true,
    timeoutParameter: "timeout",
    unlimitedCalls: true,
    // What it leaves running is a matter for task tools.
    providesBackgroundTasks: () => true,
  },
  description: `Runs a command line in a shell and waits for it.

- Each call starts in a new shell: folders, variables and functions of an earlier call are gone. Use \`\${{ params.execute.workdir }}\` instead of \`cd\`.
- There is no terminal and no input: programs that ask questions get an end of file.
- Standard output and standard error come back together, in order. Of a long output the beginning and the end are shown; the log named in the answer has all of it.
- A command that exceeds its \`\${{ params.execute.timeout }}\` is ended with everything it has started.`,
  input: z.object({
    command: z.string().describe("The command line to run."),
    timeout: absentable(lenientInteger({ min: 0 })).meta({
      description: `Time-out in milliseconds, at most ${MAX_TIMEOUT_MS}.`,
      default: DEFAULT_TIMEOUT_MS,
    }),
    workdir: absentable(z.string()).describe(
      "Folder to run in, absolute or relative to the working directory. Default: the working directory.",
    ),
    description: absentable(z.string()).describe("Why the command is run, in one sentence."),
  }),
  output: shellOutput,
  resources: [taskRegistry],
  truncation: { builtInMaxOutput: BUILT_IN_MAX_CHARACTERS, unit: "characters" },
  async run({ command, timeout, workdir, description }, context) {
    const params: ShellParams = {
      ...shellParams.schema.parse({}),
      timeout_secs: DEFAULT_TIMEOUT_MS / 1000,
      max_timeout_secs: MAX_TIMEOUT_MS / 1000,
    };
    const workingDirectory = await folderOf(workdir, context);
    return await runShellCommand(
      { command, timeout, description, is_background: false },
      { ...context, params, workingDirectory },
      { render: bashResult, clampMs: MAX_TIMEOUT_MS },
    );
  },
});

/**
 * @throws {@link ToolError} FILE_NOT_FOUND when it is no folder, PERMISSION_DENIED outside the roots.
 */
async function folderOf(workdir: string | undefined, context: ToolContext<unknown>): Promise<string> {
  const { workingDirectory, workspaceRoots } = context;
  if (workdir === undefined || workdir.trim() === "") return workingDirectory;
  const { path } = toModelPath(workdir, context);
  const field = context.parameterName("workdir");
  const outside = (): ToolError =>
    new ToolError(ErrorCode.PERMISSION_DENIED, `\`${field}\` ${path} is outside the allowed folders`, {
      filePath: path,
      details: { field, reason: "outside_roots" },
    });
  // Before it is looked at: whether something exists outside is nobody's business.
  await assertPathInsideRoots(path, workspaceRoots).catch(() => {
    throw outside();
  });
  const folder = await realDirectory(path);
  if (folder === undefined) {
    throw new ToolError(ErrorCode.FILE_NOT_FOUND, `\`${field}\` ${path} is not an existing directory`, {
      filePath: path,
      details: { field },
    });
  }
  if (!isInsideRoots(folder, workspaceRoots)) throw outside();
  return folder;
}
