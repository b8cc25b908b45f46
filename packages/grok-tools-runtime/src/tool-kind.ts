import { ToolCategory } from "@trivium/proto/grok-tools";

/** What a tool is for. Descriptions refer to other tools by kind; categories and labels follow from it. */
export type ToolKind =
  | "read"
  | "edit"
  | "delete"
  | "list_dir"
  | "write"
  | "move"
  | "search"
  | "lsp"
  | "execute"
  | "plan"
  | "web_search"
  | "web_fetch"
  | "background_task_action"
  | "wait_tasks_action"
  | "kill_task_action"
  | "list"
  | "skill"
  | "memory_search"
  | "memory_get"
  | "task"
  | "enter_plan"
  | "exit_plan"
  | "ask_user"
  | "image_gen"
  | "video_gen"
  | "image_to_video"
  | "reference_to_video"
  | "deploy_app"
  | "search_tool"
  | "use_tool"
  | "monitor"
  | "goal_update"
  | "workflow"
  | "other";

/** Category of a kind in `ToolInfo`. */
export function categoryOfKind(kind: ToolKind): ToolCategory {
  return parts[kind][1];
}

/** Display name of a kind. */
export function labelOfKind(kind: ToolKind): string {
  return parts[kind][0];
}

const { FILE, SEARCH, SHELL, WORKFLOW, EXTERNAL, CUSTOM } = ToolCategory;

const parts: Readonly<Record<ToolKind, readonly [label: string, category: ToolCategory]>> = {
  read: ["Read", FILE],
  edit: ["Edit", FILE],
  delete: ["Delete", FILE],
  list_dir: ["List Files", FILE],
  write: ["Write", FILE],
  move: ["Move", FILE],
  search: ["Search", SEARCH],
  lsp: ["Code Intelligence", SEARCH],
  execute: ["Run Command", SHELL],
  plan: ["Plan", WORKFLOW],
  web_search: ["Web Search", EXTERNAL],
  web_fetch: ["Web Fetch", EXTERNAL],
  background_task_action: ["Background Task", SHELL],
  wait_tasks_action: ["Wait for Tasks", SHELL],
  kill_task_action: ["Kill Task", SHELL],
  list: ["List Files", FILE],
  skill: ["Skill", WORKFLOW],
  memory_search: ["Memory Search", EXTERNAL],
  memory_get: ["Memory Read", EXTERNAL],
  task: ["Subagent", WORKFLOW],
  enter_plan: ["Enter Plan Mode", WORKFLOW],
  exit_plan: ["Exit Plan Mode", WORKFLOW],
  ask_user: ["Ask User", WORKFLOW],
  image_gen: ["Generate Image", EXTERNAL],
  video_gen: ["Generate Video", EXTERNAL],
  image_to_video: ["Generate Video", EXTERNAL],
  reference_to_video: ["Generate Video", EXTERNAL],
  deploy_app: ["Deploy", CUSTOM],
  search_tool: ["Search Tools", EXTERNAL],
  use_tool: ["Use Tool", EXTERNAL],
  monitor: ["Monitor", SHELL],
  goal_update: ["Update Goal", WORKFLOW],
  workflow: ["Workflow", WORKFLOW],
  other: ["Tool", CUSTOM],
};
