import {
  type RequirementContext,
  type RequirementFailure,
  type ToolCapabilities,
  type ToolDefinition,
  type ToolTruncation,
} from "../tool.ts";
import { shellInput, shellOutput, specialiseShellInput } from "./shell-input.ts";
import { type ShellParams, shellParams } from "./shell-params.ts";
import { taskRegistry } from "./task-registry.ts";

/** Characters of output in an answer unless configured otherwise. */
const BUILT_IN_MAX_CHARACTERS = 20_000;

const capabilities: ToolCapabilities = {
  readOnly: false,
  cancellable: true,
  streaming: true,
  backgroundParameter: "is_background",
  timeoutParameter: "timeout",
  unlimitedCalls: true,
  providesBackgroundTasks: (params) => isShellParams(params) && params.enabled_background,
};

const truncation: ToolTruncation = {
  builtInMaxOutput: BUILT_IN_MAX_CHARACTERS,
  unit: "characters",
  fromParams: (params) => (isShellParams(params) ? params.output_byte_limit : undefined),
};

/** What the shell tools of all namespaces with these params have in common. */
export const shellTool: Omit<ToolDefinition<typeof shellInput, ShellParams>, "id" | "run"> = {
  kind: "execute",
  capabilities,
  description: ({ params, remindersEnabled }) => describeShell(params, remindersEnabled),
  input: shellInput,
  params: shellParams,
  output: shellOutput,
  resources: [taskRegistry],
  truncation,
  requires: requireTaskTools,
  specialiseInput: specialiseShellInput,
};

function describeShell(params: ShellParams, remindersEnabled: boolean): string {
  const told = remindersEnabled
    ? "You will be notified when it ends."
    : "Look at it with `${{ tools.by_kind.background_task_action }}`.";
  const background = params.enabled_background
    ? `
- For servers, watchers and other long work set \`\${{ params.execute.is_background }}\`: the call returns at once with a task id. ${told} End it with \`\${{ tools.by_kind.kill_task_action }}\`.`
    : "";
  return `Runs a command line in a shell.

- Each call starts in a new shell: folders, variables and functions of an earlier call are gone.
- There is no terminal and no input: programs that ask questions get an end of file. Pagers and editors are switched off.
- Standard output and standard error come back together, in order. Of a long output the beginning and the end are shown; the log named in the answer has all of it.
- A command that exceeds its \`\${{ params.execute.timeout }}\` is ended with everything it has started: first asked, a second later killed.
- What a command leaves running on purpose goes on until the session ends.${background}`;
}

function requireTaskTools({
  params,
  toolset,
}: RequirementContext<ShellParams>): RequirementFailure | undefined {
  if (!params.enabled_background) return undefined;
  if (toolset.hasKind("background_task_action") && toolset.hasKind("kill_task_action")) return undefined;
  return {
    message: "background commands need a tool that reads the output of tasks and one that kills them",
    fieldPath: "params.enabled_background",
    expected: "enabled_background=false, or get_task_output and kill_task in the toolset",
  };
}

function isShellParams(params: unknown): params is ShellParams {
  return typeof params === "object" && params !== null && "enabled_background" in params;
}
