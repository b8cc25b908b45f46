import type { Tool } from "../tool.ts";
import {
  getTaskOutput,
  getTerminalCommandOutput,
} from "../tools/grok-build/get-task-output/get-task-output.ts";
import { grep } from "../tools/grok-build/grep/grep.ts";
import { killTask, killTerminalCommand } from "../tools/grok-build/kill-task/kill-task.ts";
import { listDir } from "../tools/grok-build/list-dir/list-dir.ts";
import { readFile } from "../tools/grok-build/read-file/read-file.ts";
import { runTerminalCmd } from "../tools/grok-build/run-terminal-cmd/run-terminal-cmd.ts";
import { searchReplace } from "../tools/grok-build/search-replace/search-replace.ts";
import { waitTasks } from "../tools/grok-build/wait-tasks/wait-tasks.ts";
import { readFileConcise } from "../tools/grok-build-concise/read-file/read-file.ts";
import { runTerminalCmdConcise } from "../tools/grok-build-concise/run-terminal-cmd/run-terminal-cmd.ts";
import { searchReplaceConcise } from "../tools/grok-build-concise/search-replace/search-replace.ts";

/** The tools of this package, in the order they are listed before finalize. */
export const builtInTools: readonly Tool[] = [
  runTerminalCmd,
  readFile,
  searchReplace,
  listDir,
  grep,
  killTask,
  killTerminalCommand,
  getTaskOutput,
  getTerminalCommandOutput,
  waitTasks,
  runTerminalCmdConcise,
  readFileConcise,
  searchReplaceConcise,
];
