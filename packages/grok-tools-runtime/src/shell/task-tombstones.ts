import { basename, dirname, join } from "node:path";
import { z } from "zod";
import type { JsonValue } from "../json.ts";
import type { ResourceDefinition, SessionScope } from "../session-resource.ts";
import { logFolder } from "./log-folder.ts";
import type { ShellTask, TaskStatus } from "./shell-task.ts";

/** Tasks that stay known, those that still run included. The one that started first is forgotten first. */
const MAX_TOMBSTONES = 100;

/** What stays of a task for later lives of its session. Keys as in the saved state. */
export interface TaskTombstone {
  readonly task_id: string;
  readonly command: string;
  readonly status: TaskStatus;
  /** Null: none, because it was ended from outside, or it still runs. */
  readonly exit_code: number | null;
  /** Why it ended other than by itself. */
  readonly signal: string | null;
  /** RFC 3339. */
  readonly started: string;
  /** RFC 3339. Null: it still runs, or its server has ended before it could be told. */
  readonly ended: string | null;
  /** Path of the log; blank when there is none that may be read. */
  readonly output_file: string;
}

const tombstoneSchema: z.ZodType<TaskTombstone> = z.object({
  task_id: z.string(),
  command: z.string(),
  status: z.enum(["running", "completed", "failed", "cancelled", "timed_out"]),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  started: z.iso.datetime(),
  ended: z.iso.datetime().nullable(),
  output_file: z.string(),
});

const stateSchema = z.object({ tasks: z.array(tombstoneSchema).max(MAX_TOMBSTONES) });

/** The tasks that a session has had, in this life and in earlier ones. */
export class TaskTombstones {
  readonly #logFolder: string;
  /** In the order they were started. */
  readonly #tombstones = new Map<string, TaskTombstone>();

  constructor({ sessionFolder }: Pick<SessionScope, "sessionFolder">) {
    this.#logFolder = logFolder(sessionFolder);
  }

  get(taskId: string): TaskTombstone | undefined {
    return this.#tombstones.get(taskId);
  }

  /** Ids in the order the tasks were started. */
  ids(): string[] {
    return [...this.#tombstones.keys()];
  }

  /** Whether a log belongs to a task that is known. */
  ownsLog(path: string): boolean {
    return [...this.#tombstones.values()].some((tombstone) => tombstone.output_file === path);
  }

  /** Writes down a task as it is now. */
  record(task: ShellTask): void {
    const { endedAtMs } = task;
    this.#tombstones.set(task.taskId, {
      task_id: task.taskId,
      command: task.displayCommand ?? task.command,
      // Ended with its session, which is no fault of its own.
      status: task.signal === "cancelled" ? "cancelled" : task.status,
      exit_code: task.exitCode,
      signal: task.signal,
      started: new Date(task.startedAtMs).toISOString(),
      ended: endedAtMs === undefined ? null : new Date(endedAtMs).toISOString(),
      output_file: task.outputFile,
    });
    this.#forgetOldest();
  }

  /** Takes over the tasks of an earlier life, none of which can still run. False: the value cannot be decoded. */
  load(value: JsonValue): boolean {
    const parsed = stateSchema.safeParse(value);
    if (!parsed.success) return false;
    const own = [...this.#tombstones.values()];
    this.#tombstones.clear();
    for (const tombstone of parsed.data.tasks) {
      this.#tombstones.set(tombstone.task_id, {
        ...tombstone,
        status: tombstone.status === "running" ? "cancelled" : tombstone.status,
        output_file: this.#ownLog(tombstone.output_file),
      });
    }
    for (const tombstone of own) this.#tombstones.set(tombstone.task_id, tombstone);
    this.#forgetOldest();
    return true;
  }

  save(): JsonValue | undefined {
    if (this.#tombstones.size === 0) return undefined;
    return { tasks: [...this.#tombstones.values()].map((tombstone) => ({ ...tombstone })) };
  }

  /** A state may come from anywhere: it must not make a file of others readable. Blank: not a log of this session. */
  #ownLog(path: string): string {
    return dirname(path) === this.#logFolder ? join(this.#logFolder, basename(path)) : "";
  }

  #forgetOldest(): void {
    for (const taskId of this.ids().slice(0, Math.max(0, this.#tombstones.size - MAX_TOMBSTONES))) {
      this.#tombstones.delete(taskId);
    }
  }
}

/** What is known of the tasks of a session across its lives. */
export const taskTombstones: ResourceDefinition<TaskTombstones> = {
  name: "task tombstones",
  create: (scope) => new TaskTombstones(scope),
  state: {
    key: "trivium.TaskTombstones",
    load: (tombstones, value) => tombstones.load(value),
    save: (tombstones) => tombstones.save(),
  },
};
