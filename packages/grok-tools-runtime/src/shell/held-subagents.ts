import type { Subagent, Subagents } from "../subagents/subagents.ts";
import type { TaskRegistry } from "./task-registry.ts";

/** Children that a call waits for and will show. While they are held their ends are announced to nobody else. */
export interface HeldSubagents extends Disposable {
  readonly ends: readonly Promise<unknown>[];
}

/** Holds the children among some ids; ids of tasks are none. */
export function heldSubagents(
  taskIds: readonly string[],
  { registry, subagents }: { registry: TaskRegistry; subagents: Pick<Subagents, "get"> | undefined },
): HeldSubagents {
  const children: Subagent[] = taskIds
    .map((taskId) => (registry.get(taskId) === undefined ? subagents?.get(taskId) : undefined))
    .filter((child) => child !== undefined);
  const holds = children.map((child) => child.hold());
  return {
    ends: children.map(({ finished }) => finished),
    [Symbol.dispose]() {
      for (const hold of holds) hold[Symbol.dispose]();
    },
  };
}
