import { z } from "zod";
import { MAX_TODOS, type Todo, todoList, todoPriorities, todoStatuses } from "../../../todo/todo-list.ts";
import { todoOutput } from "../../../todo/todo-output.ts";
import { todosRefused, todosUpdated } from "../../../todo/todo-result.ts";
import { defineTool, type Tool } from "../../../tool.ts";

const MAX_CONTENT_CHARS = 2000;

const entry = z.object({
  content: z.string().describe("What is to be done."),
  status: z.string().describe("`pending`, `in_progress`, `completed` or `cancelled`."),
  priority: z.string().describe("`high`, `medium` or `low`."),
});

type Entry = z.output<typeof entry>;

/** OpenCode:todowrite: replaces the to-do list of a session. */
export const todowrite: Tool = defineTool({
  id: "OpenCode:todowrite",
  kind: "plan",
  capabilities: { readOnly: false },
  description: `Writes the whole list of tasks of a larger piece of work; what is not in it is dropped.

- Use it for work with several steps, and bring it up to date whenever a step is done or a new one turns up.
- Keep one task \`in_progress\` at a time.`,
  input: z.object({ todos: z.array(entry).describe("All tasks, in order.") }),
  output: todoOutput,
  resources: [todoList],
  run({ todos }, context) {
    const field = context.parameterName("todos");
    const problem = problemWith(todos, field);
    if (problem !== undefined) return Promise.resolve(todosRefused("InvalidArgument", problem));
    const warnings: string[] = [];
    const next = todos.map((todo, index): [string, Todo] => {
      const place = `${field}[${index}]`;
      return [
        String(index + 1),
        {
          content: todo.content,
          priority: known(todo.priority, {
            values: todoPriorities,
            otherwise: "medium",
            place: `${place}.priority`,
            warnings,
          }),
          status: known(todo.status, {
            values: todoStatuses,
            otherwise: "pending",
            place: `${place}.status`,
            warnings,
          }),
        },
      ];
    });
    const current = next.filter(([, { status }]) => status === "in_progress").length;
    if (current > 1) warnings.push(`${current} tasks are in_progress, work on one at a time`);
    const list = context.resource(todoList);
    list.replace(next);
    return Promise.resolve(todosUpdated(list, warnings));
  },
});

function problemWith(todos: readonly Entry[], field: string): string | undefined {
  if (todos.length > MAX_TODOS) {
    return `Error: \`${field}\` has ${todos.length} tasks, at most ${MAX_TODOS} are kept; drop or join some.`;
  }
  const long = todos.findIndex(({ content }) => content.length > MAX_CONTENT_CHARS);
  if (long === -1) return undefined;
  return `Error: \`${field}[${long}].content\` has ${todos[long]?.content.length} characters, at most ${MAX_CONTENT_CHARS} are kept.`;
}

interface KnownValues<Value extends string> {
  readonly values: readonly Value[];
  readonly otherwise: Value;
  readonly place: string;
  readonly warnings: string[];
}

/** Models make up words for these; the list is written all the same, and the caller is told. */
function known<Value extends string>(
  sent: string,
  { values, otherwise, place, warnings }: KnownValues<Value>,
): Value {
  const found = values.find((value) => value === sent);
  if (found === undefined) {
    warnings.push(`${place} ${JSON.stringify(sent.slice(0, 40))} is not known and counts as ${otherwise}`);
  }
  return found ?? otherwise;
}
