import type { ToolKind } from "../../tool-kind.ts";
import type { CapabilityMode } from "../subagents.ts";

const readOnly: readonly ToolKind[] = [
  "read",
  "list",
  "list_dir",
  "search",
  "lsp",
  "plan",
  "memory_search",
  "memory_get",
  "web_search",
  "web_fetch",
  "background_task_action",
  "kill_task_action",
  "task",
  "enter_plan",
  "exit_plan",
  "ask_user",
  "skill",
];

const kindsOfMode: Readonly<Record<CapabilityMode, ReadonlySet<ToolKind> | undefined>> = {
  "read-only": new Set(readOnly),
  "read-write": new Set<ToolKind>([
    ...readOnly,
    "edit",
    "write",
    "delete",
    "move",
    "image_gen",
    "video_gen",
    "image_to_video",
    "reference_to_video",
  ]),
  execute: new Set<ToolKind>([...readOnly, "execute"]),
  all: undefined,
};

/** Whether a mode keeps the tools of a kind. */
export function keepsKind(mode: CapabilityMode, kind: ToolKind): boolean {
  return kindsOfMode[mode]?.has(kind) ?? true;
}

/** The mode a name means, in any of the usual spellings (`readOnly`, `read_only`, `ReadOnly`); undefined for others. */
export function toCapabilityMode(name: string): CapabilityMode | undefined {
  switch (name.trim().replaceAll(/[-_ ]/g, "").toLowerCase()) {
    case "readonly":
      return "read-only";
    case "readwrite":
      return "read-write";
    case "execute":
      return "execute";
    case "all":
      return "all";
    default:
      return undefined;
  }
}
