import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { orderedObject } from "../ordered-json.ts";
import type { ResourceDefinition } from "../session-resource.ts";

export const todoStatuses = ["pending", "in_progress", "completed", "cancelled"] as const;
export const todoPriorities = ["high", "medium", "low"] as const;

export type TodoStatus = (typeof todoStatuses)[number];
export type TodoPriority = (typeof todoPriorities)[number];

/** One task of the list. */
export interface Todo {
  readonly content: string;
  readonly priority: TodoPriority;
  readonly status: TodoStatus;
  /** What another program keeps beside the task. Handed on as it is. */
  readonly meta?: JsonValue;
}

/** Longer lists are refused. */
export const MAX_TODOS = 200;

/** The tasks of a session by id, in the order in which they were first written. All to-do tools share it. */
export class TodoList {
  #todos: ReadonlyMap<string, Todo> = new Map();
  #isWritten = false;

  /** False: the session never had a list. An empty list says that the tasks were cleared. */
  get isWritten(): boolean {
    return this.#isWritten;
  }

  get entries(): readonly (readonly [id: string, todo: Todo])[] {
    return [...this.#todos];
  }

  get(id: string): Todo | undefined {
    return this.#todos.get(id);
  }

  /** Puts a new list in place of the old. */
  replace(entries: Iterable<readonly [id: string, todo: Todo]>): void {
    this.#todos = new Map(entries);
    this.#isWritten = true;
  }

  /** `{ "todos": { id: { content, priority, status, meta? } } }`; the order of the keys is that of the list. */
  toJson(): JsonObject {
    return {
      todos: orderedObject(this.entries.map(([id, todo]): [string, JsonObject] => [id, { ...todo }])),
    };
  }

  /** Takes over what {@link toJson} gave. False when the value is something else; nothing changed then. */
  load(value: JsonValue): boolean {
    if (!isJsonObject(value) || !isJsonObject(value["todos"])) return false;
    const loaded: [string, Todo][] = [];
    for (const [id, entry] of Object.entries(value["todos"])) {
      const todo = toTodo(entry);
      if (todo === undefined) return false;
      loaded.push([id, todo]);
    }
    this.replace(loaded);
    return true;
  }
}

/** The list of a session. */
export const todoList: ResourceDefinition<TodoList> = {
  name: "to-do list",
  create: () => new TodoList(),
  state: {
    key: "grok_build.Todo",
    load: (list, value) => list.load(value),
    save: (list) => (list.isWritten ? list.toJson() : undefined),
  },
};

function toTodo(entry: JsonValue): Todo | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { content, meta } = entry;
  const status = todoStatuses.find((known) => known === entry["status"]);
  const priority = todoPriorities.find((known) => known === (entry["priority"] ?? "medium"));
  if (typeof content !== "string" || status === undefined || priority === undefined) return undefined;
  return { content, priority, status, ...(meta !== undefined && { meta }) };
}
