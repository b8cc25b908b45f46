import { ErrorCode } from "@trivium/proto/grok-tools";
import type { OutputValue, ToolResult } from "../tool.ts";
import type { TodoList } from "./todo-list.ts";

/** One line for each task, `- [status] id: content`, each with a line feed; a sentence for an empty list. */
export function describeTodos({ entries }: TodoList): string {
  if (entries.length === 0) return "No tasks are tracked.";
  return entries.map(([id, { status, content }]) => `- [${status}] ${id}: ${content}\n`).join("");
}

/** The answer for a list that was written. */
export function todosUpdated(list: TodoList, warnings: readonly string[] = []): ToolResult {
  const summary = describeTodos(list);
  const notes = warnings.map((warning) => `Note: ${warning}.\n`).join("");
  const promptText = notes === "" ? summary : `${summary}\n${notes}`;
  return {
    output: {
      type: "Todo",
      TodosUpdated: {
        summary_for_prompt: promptText,
        todos: list.entries.map(([, todo]) => ({ ...todo })),
        state: list.toJson() as OutputValue,
        ...(warnings.length > 0 && { warnings }),
      },
    },
    promptText,
  };
}

/** The answer for a list that was not written. */
export function todosRefused(variant: "DuplicateId" | "InvalidArgument", text: string): ToolResult {
  return {
    output: { type: "Todo", [variant]: text },
    promptText: text,
    failure: { code: ErrorCode.INVALID_INPUT },
  };
}
