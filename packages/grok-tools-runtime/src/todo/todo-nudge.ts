import { isJsonObject, type JsonValue } from "../json.ts";
import type { FinishedCall, ResourceDefinition, SessionScope } from "../session-resource.ts";
import { type TodoList, todoList } from "./todo-list.ts";
import { describeTodos } from "./todo-result.ts";

/** Calls of other tools after the last write of the list before the model is reminded of it. */
const TURNS_SINCE_WRITE = 3;
/** And after the last reminder. */
const TURNS_BETWEEN = 5;

type NudgeScope = Pick<SessionScope, "configuredTools" | "toolName" | "resource">;

/** Reminds the model now and then of a to-do list that it has not touched for a while. */
export class TodoNudge {
  readonly #scope: NudgeScope;
  #sinceWrite = 0;
  /** Undefined: never reminded. */
  #sinceNudge: number | undefined;

  constructor(scope: NudgeScope) {
    this.#scope = scope;
  }

  /** Counts a successful call. The text to remind with, when it is time. */
  afterCall({ toolId }: Pick<FinishedCall, "toolId">): string | undefined {
    const isPlan = this.#scope.configuredTools.some(({ id, kind }) => id === toolId && kind === "plan");
    if (this.#sinceNudge !== undefined) this.#sinceNudge += 1;
    if (isPlan) {
      this.#sinceWrite = 0;
      return undefined;
    }
    this.#sinceWrite += 1;
    if (this.#sinceWrite < TURNS_SINCE_WRITE || (this.#sinceNudge ?? TURNS_BETWEEN) < TURNS_BETWEEN) {
      return undefined;
    }
    this.#sinceNudge = 0;
    return nudgeText(this.#scope.toolName("plan") ?? "the to-do tool", this.#scope.resource(todoList));
  }

  /** `{ "since_write", "since_nudge" }`, both in calls; the second is null before the first reminder. */
  toJson(): JsonValue | undefined {
    if (this.#sinceWrite === 0 && this.#sinceNudge === undefined) return undefined;
    return { since_write: this.#sinceWrite, since_nudge: this.#sinceNudge ?? null };
  }

  /** Takes over what {@link toJson} gave. False when the value is something else; nothing changed then. */
  load(value: JsonValue): boolean {
    if (!isJsonObject(value)) return false;
    const { since_write: sinceWrite, since_nudge: sinceNudge } = value;
    if (!isCount(sinceWrite) || (sinceNudge !== null && !isCount(sinceNudge))) return false;
    this.#sinceWrite = sinceWrite;
    this.#sinceNudge = sinceNudge ?? undefined;
    return true;
  }
}

/** The reminder of a session with a to-do tool. */
export const todoNudge: ResourceDefinition<TodoNudge> = {
  name: "to-do reminder",
  create: (scope) => new TodoNudge(scope),
  reminders(nudge, call) {
    const text = nudge.afterCall(call);
    return text === undefined ? [] : [text];
  },
  state: {
    key: "trivium.TodoNudge",
    load: (nudge, value) => nudge.load(value),
    save: (nudge) => nudge.toJson(),
  },
};

function nudgeText(toolName: string, list: TodoList): string {
  const advice = `The task list was not updated with ${toolName} for a while. If the work has steps worth tracking, write them down or bring the list up to date; ignore this reminder when it does not help, and do not mention it to the user.`;
  if (list.entries.length === 0) return advice;
  // The tasks are somebody's text: a tag in them must not end the reminder.
  const tasks = describeTodos(list).replaceAll("</", "<\\/").trimEnd();
  return `${advice}\n\nThe list as it stands:\n${tasks}`;
}

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}
