import { z } from "zod";
import { absentable, lenientBoolean } from "../../../input/lenient.ts";
import {
  MAX_TODOS,
  type Todo,
  type TodoList,
  todoList,
  todoPriorities,
  todoStatuses,
} from "../../../todo/todo-list.ts";
import { todoOutput } from "../../../todo/todo-output.ts";
import { todosRefused, todosUpdated } from "../../../todo/todo-result.ts";
import { defineTool, type Tool } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";

const entry = z.object({
  id: z.string().describe("Names the task in later calls."),
  content: absentable(z.string()).describe("What is to be done. Needed for a new task only."),
  status: absentable(z.enum(todoStatuses)).meta({ description: "How far it is.", default: "pending" }),
  priority: absentable(z.enum(todoPriorities)).meta({ description: "How urgent it is.", default: "medium" }),
});

type Entry = z.output<typeof entry>;

/** GrokBuild:todo_write: the to-do list of a session, changed task by task or as a whole. */
export const todoWrite: Tool = defineTool({
  id: "GrokBuild:todo_write",
  kind: "plan",
  capabilities: { readOnly: false, scope: "read" },
  description: `Keeps a list of the tasks of a larger piece of work, so that you and the user see what is done and what is left.

- Tasks are named by \`id\`. With \`\${{ params.plan.merge }}\` (the default) only the tasks given are changed or added; the others stay as they are.
- Without it the list given takes the place of the old one; an empty list clears it.
- Set a task to \`in_progress\` when you begin with it and to \`completed\` as soon as it is done.`,
  input: z.object({
    todos: z.array(entry).describe("Tasks to write."),
    merge: lenientBoolean().default(true).describe("Keep the tasks that are not given."),
  }),
  output: todoOutput,
  resources: [todoList],
  run({ todos, merge }, context) {
    const list = context.resource(todoList);
    const repeated = firstRepeated(todos);
    if (repeated !== undefined) {
      const field = context.parameterName("todos");
      const text = `Error: the id ${repeated} is in \`${field}\` more than once; each task needs an id of its own.`;
      return Promise.resolve(todosRefused("DuplicateId", text));
    }
    const isMerge = merge || hasForgottenMerge(todos, list);
    const next = new Map(isMerge ? list.entries : []);
    for (const todo of todos)
      next.set(todo.id, isMerge ? merged(todo, next.get(todo.id)) : merged(todo, undefined));
    if (next.size > MAX_TODOS) {
      throw ToolError.invalidField(
        context.parameterName("todos"),
        `the list would have ${next.size} tasks, at most ${MAX_TODOS} are kept; drop or join some`,
      );
    }
    list.replace(next);
    return Promise.resolve(todosUpdated(list));
  },
});

function firstRepeated(todos: readonly Entry[]): string | undefined {
  const seen = new Set<string>();
  for (const { id } of todos) {
    if (seen.has(id)) return id;
    seen.add(id);
  }
  return undefined;
}

/** Changes of known tasks only, none with a text: nobody means to lose the rest of the list, and these texts too. */
function hasForgottenMerge(todos: readonly Entry[], list: TodoList): boolean {
  return (
    todos.length > 0 && todos.every(({ id, content }) => !hasText(content) && list.get(id) !== undefined)
  );
}

function merged({ id, content, status, priority }: Entry, known: Todo | undefined): Todo {
  return {
    ...known,
    content: hasText(content) ? content : (known?.content ?? id),
    priority: priority ?? known?.priority ?? "medium",
    status: status ?? known?.status ?? "pending",
  };
}

function hasText(content: string | undefined): content is string {
  return content !== undefined && content !== "";
}
