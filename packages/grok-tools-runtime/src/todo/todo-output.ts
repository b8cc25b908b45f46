import { z } from "zod";
import type { ToolOutputDefinition } from "../tool.ts";
import { todoPriorities, todoStatuses } from "./todo-list.ts";

const row = z.object({
  content: z.string(),
  priority: z.enum(todoPriorities),
  status: z.enum(todoStatuses),
});

const type = z.literal("Todo");

/** The union value `Todo`. */
export const todoOutput: ToolOutputDefinition = {
  schema: z.union([
    z.object({
      type,
      TodosUpdated: z.object({
        summary_for_prompt: z.string(),
        todos: z.array(row.extend({ meta: z.unknown().optional() })),
        state: z.object({ todos: z.record(z.string(), row.extend({ meta: z.unknown().optional() })) }),
        warnings: z.array(z.string()).optional(),
      }),
    }),
    z.object({ type, DuplicateId: z.string() }),
    z.object({ type, InvalidArgument: z.string() }),
  ]),
  fields: [
    { name: "summary_for_prompt", description: "The list as the model reads it.", type: "string" },
    { name: "todos", description: "The tasks in order, without their ids.", type: "array" },
    { name: "state", description: "The tasks by id, in order.", type: "object" },
    { name: "warnings", description: "What was understood other than sent.", type: "array" },
  ],
};
