import type { Tool } from "../tool.ts";
import { applyPatch } from "../tools/codex/apply-patch/apply-patch.ts";
import { codexGrepFiles } from "../tools/codex/grep-files/grep-files.ts";
import { codexListDir } from "../tools/codex/list-dir/list-dir.ts";
import { codexReadFile } from "../tools/codex/read-file/read-file.ts";
import { askUserQuestion } from "../tools/grok-build/ask-user-question/ask-user-question.ts";
import { enterPlanMode } from "../tools/grok-build/enter-plan-mode/enter-plan-mode.ts";
import { exitPlanMode } from "../tools/grok-build/exit-plan-mode/exit-plan-mode.ts";
import {
  getTaskOutput,
  getTerminalCommandOutput,
} from "../tools/grok-build/get-task-output/get-task-output.ts";
import { grep } from "../tools/grok-build/grep/grep.ts";
import { imageEdit } from "../tools/grok-build/image-edit/image-edit.ts";
import { imageGen } from "../tools/grok-build/image-gen/image-gen.ts";
import { imageToVideo } from "../tools/grok-build/image-to-video/image-to-video.ts";
import { killTask, killTerminalCommand } from "../tools/grok-build/kill-task/kill-task.ts";
import { listDir } from "../tools/grok-build/list-dir/list-dir.ts";
import { lsp } from "../tools/grok-build/lsp/lsp.ts";
import { memoryGet } from "../tools/grok-build/memory-get/memory-get.ts";
import { memorySearch } from "../tools/grok-build/memory-search/memory-search.ts";
import { monitor } from "../tools/grok-build/monitor/monitor.ts";
import { readFile } from "../tools/grok-build/read-file/read-file.ts";
import { referenceToVideo } from "../tools/grok-build/reference-to-video/reference-to-video.ts";
import { runTerminalCmd } from "../tools/grok-build/run-terminal-cmd/run-terminal-cmd.ts";
import { schedulerCreate } from "../tools/grok-build/scheduler-create/scheduler-create.ts";
import { schedulerDelete } from "../tools/grok-build/scheduler-delete/scheduler-delete.ts";
import { schedulerList } from "../tools/grok-build/scheduler-list/scheduler-list.ts";
import { searchReplace } from "../tools/grok-build/search-replace/search-replace.ts";
import { searchTool } from "../tools/grok-build/search-tool/search-tool.ts";
import { task } from "../tools/grok-build/task/task.ts";
import { todoWrite } from "../tools/grok-build/todo-write/todo-write.ts";
import { updateGoal } from "../tools/grok-build/update-goal/update-goal.ts";
import { useTool } from "../tools/grok-build/use-tool/use-tool.ts";
import { waitTasks } from "../tools/grok-build/wait-tasks/wait-tasks.ts";
import { webFetch } from "../tools/grok-build/web-fetch/web-fetch.ts";
import { webSearch } from "../tools/grok-build/web-search/web-search.ts";
import { workflow } from "../tools/grok-build/workflow/workflow.ts";
import { readFileConcise } from "../tools/grok-build-concise/read-file/read-file.ts";
import { runTerminalCmdConcise } from "../tools/grok-build-concise/run-terminal-cmd/run-terminal-cmd.ts";
import { searchReplaceConcise } from "../tools/grok-build-concise/search-replace/search-replace.ts";
import { hashlineEdit } from "../tools/grok-build-hashline/hashline-edit/hashline-edit.ts";
import { hashlineGrep } from "../tools/grok-build-hashline/hashline-grep/hashline-grep.ts";
import { hashlineRead } from "../tools/grok-build-hashline/hashline-read/hashline-read.ts";
import { bash as openCodeBash } from "../tools/opencode/bash/bash.ts";
import { edit as openCodeEdit } from "../tools/opencode/edit/edit.ts";
import { glob as openCodeGlob } from "../tools/opencode/glob/glob.ts";
import { grep as openCodeGrep } from "../tools/opencode/grep/grep.ts";
import { read as openCodeRead } from "../tools/opencode/read/read.ts";
import { skill as openCodeSkill } from "../tools/opencode/skill/skill.ts";
import { todowrite as openCodeTodowrite } from "../tools/opencode/todowrite/todowrite.ts";
import { write as openCodeWrite } from "../tools/opencode/write/write.ts";

/** The tools of this package, in the order they are listed before finalize. */
export const builtInTools: readonly Tool[] = [
  runTerminalCmd,
  readFile,
  searchReplace,
  listDir,
  grep,
  killTask,
  killTerminalCommand,
  todoWrite,
  updateGoal,
  workflow,
  getTaskOutput,
  getTerminalCommandOutput,
  waitTasks,
  task,
  webSearch,
  webFetch,
  lsp,
  imageGen,
  imageEdit,
  imageToVideo,
  referenceToVideo,
  enterPlanMode,
  exitPlanMode,
  askUserQuestion,
  monitor,
  schedulerCreate,
  schedulerDelete,
  schedulerList,
  memorySearch,
  memoryGet,
  searchTool,
  useTool,
  runTerminalCmdConcise,
  readFileConcise,
  searchReplaceConcise,
  hashlineRead,
  hashlineEdit,
  hashlineGrep,
  applyPatch,
  codexListDir,
  codexGrepFiles,
  codexReadFile,
  openCodeBash,
  openCodeRead,
  openCodeEdit,
  openCodeWrite,
  openCodeGrep,
  openCodeGlob,
  openCodeTodowrite,
  openCodeSkill,
];
