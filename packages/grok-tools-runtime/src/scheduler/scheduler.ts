import type { CallOptions } from "../execute/call-options.ts";
import type { JsonValue } from "../json.ts";
import type { ToolNotification } from "../notifications/tool-notification.ts";
import type { ResourceDefinition, SessionScope } from "../session-resource.ts";
import { isStillRunning, startRun } from "./background-run.ts";
import { describeInterval } from "./interval.ts";
import {
  isLasting,
  nextFireMs,
  readSchedule,
  type ScheduledTask,
  toSavedTask,
  toTime,
} from "./scheduled-task.ts";

/** Tasks of one session. */
export const MAX_TASKS = 50;
const LIFE_MS = 7 * 24 * 60 * 60 * 1000;
/** The timer looks at the clock at least this often: a machine that slept has missed the time it was set to. */
const MAX_SLEEP_MS = 10 * 60 * 1000;
/** Overdue tasks of restored sessions are spread over this time instead of all starting at once. */
const MAX_JITTER_MS = 30_000;

/** What a new task needs. */
export interface NewTask {
  readonly intervalSecs: number;
  readonly prompt: string;
  readonly durable: boolean;
  readonly foreground: boolean;
  readonly isDueAtOnce: boolean;
  /** Asked before each call of its runs. Such a task ends with the process. */
  readonly authorise?: CallOptions["authorise"];
}

/** What can change. */
export interface TaskChange {
  readonly intervalSecs: number | undefined;
  readonly prompt: string | undefined;
  /** Goes with a new prompt. */
  readonly authorise?: CallOptions["authorise"];
}

/** The scheduled tasks of one session, with one timer for the next of them. */
export class Scheduler {
  readonly #scope: SessionScope;
  readonly #tasks = new Map<string, ScheduledTask>();
  /** Tasks whose child is being started. */
  readonly #starting = new Set<string>();
  /** Overdue when the session was restored: not before this time. */
  readonly #heldUntilMs = new Map<string, number>();
  #occurrenceJournal: JsonValue | undefined;
  #timer: Disposable | undefined;
  #isClosed = false;

  constructor(scope: SessionScope) {
    this.#scope = scope;
  }

  /** In the order they were made. */
  list(): readonly ScheduledTask[] {
    return [...this.#tasks.values()];
  }

  get(taskId: string): ScheduledTask | undefined {
    return this.#tasks.get(taskId);
  }

  /** Adds a task. The caller has checked that there is room. */
  create({ intervalSecs, prompt, durable, foreground, isDueAtOnce, authorise }: NewTask): ScheduledTask {
    const { clock, ids } = this.#scope;
    const nowMs = clock.now();
    const task: ScheduledTask = {
      id: this.#unusedId(),
      intervalSecs,
      prompt,
      durable,
      foreground,
      authorise,
      createdAtMs: isDueAtOnce ? nowMs - intervalSecs * 1000 : nowMs,
      lastFiredAtMs: undefined,
      expiresAtMs: nowMs + LIFE_MS,
      lastSubagentId: undefined,
      iterationsSinceFresh: 0,
      chainResetPending: false,
      generation: ids.timeOrderedUuid(),
      revision: 1,
    };
    this.#tasks.set(task.id, task);
    this.#announce(task);
    this.#arm();
    return task;
  }

  /** Changes a task. It keeps its phase, unless the new interval makes it due: then a whole interval begins. */
  update(task: ScheduledTask, { intervalSecs, prompt, authorise }: TaskChange): void {
    const nowMs = this.#scope.clock.now();
    if (prompt !== undefined) task.authorise = authorise;
    if (prompt !== undefined && prompt !== task.prompt) {
      task.prompt = prompt;
      task.chainResetPending = true;
    }
    if (intervalSecs !== undefined) {
      task.intervalSecs = intervalSecs;
      if (nextFireMs(task) <= nowMs) task.lastFiredAtMs = nowMs;
    }
    task.revision += 1;
    this.#announce(task);
    this.#arm();
  }

  /** Removes a task; a run that has begun goes on. False: there is none of this id. */
  delete(taskId: string): boolean {
    const task = this.#tasks.get(taskId);
    if (task === undefined) return false;
    this.#remove(task, "deleted");
    this.#arm();
    return true;
  }

  /** Takes over saved tasks. False: the value cannot be decoded. */
  load(value: JsonValue): boolean {
    const { clock, ids } = this.#scope;
    const saved = readSchedule(value, () => ids.timeOrderedUuid());
    if (saved === undefined) return false;
    const tasks = saved.tasks.slice(0, MAX_TASKS);
    for (const known of this.list()) {
      if (!tasks.some(({ id }) => id === known.id)) this.#remove(known, "unknown");
    }
    this.#tasks.clear();
    this.#heldUntilMs.clear();
    this.#occurrenceJournal = saved.occurrenceJournal;
    for (const task of tasks) {
      this.#tasks.set(task.id, task);
      if (nextFireMs(task) <= clock.now()) {
        this.#heldUntilMs.set(task.id, clock.now() + this.#jitterMs(task));
      }
      this.#notifyCreated(task);
    }
    this.#arm();
    return true;
  }

  /** The durable tasks; undefined when there is nothing to keep. */
  save(): JsonValue | undefined {
    const tasks = this.list().filter(isLasting);
    if (tasks.length === 0 && this.#occurrenceJournal === undefined) return undefined;
    return {
      tasks: tasks.map(toSavedTask),
      ...(this.#occurrenceJournal !== undefined && { occurrenceJournal: this.#occurrenceJournal }),
    };
  }

  /** Ends the timer. Lasting tasks go on with the next session of this id; the others are over. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    for (const task of this.list()) if (!isLasting(task)) this.#remove(task, "shutdown");
  }

  #arm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    if (this.#isClosed || this.#tasks.size === 0) return;
    const wakeMs = Math.min(...this.list().map((task) => this.#wakeMs(task)));
    const sleepMs = Math.min(Math.max(0, wakeMs - this.#scope.clock.now()), MAX_SLEEP_MS);
    this.#timer = this.#scope.clock.setTimer(sleepMs, () => this.#wake());
  }

  #wakeMs(task: ScheduledTask): number {
    const fireMs = Math.max(nextFireMs(task), this.#heldUntilMs.get(task.id) ?? 0);
    return Math.min(fireMs, task.expiresAtMs ?? fireMs);
  }

  #wake(): void {
    // A session that ends starts nothing any more; what is due now is overdue in its next life.
    if (this.#scope.sessionSignal.aborted) return;
    const nowMs = this.#scope.clock.now();
    for (const task of this.list()) {
      if (this.#wakeMs(task) > nowMs) continue;
      if (task.expiresAtMs !== undefined && task.expiresAtMs <= nowMs) this.#remove(task, "expired");
      else this.#fire(task, nowMs);
    }
    this.#arm();
  }

  /** Periods that were missed collapse into this one. */
  #fire(task: ScheduledTask, nowMs: number): void {
    this.#heldUntilMs.delete(task.id);
    task.lastFiredAtMs = nowMs;
    task.revision += 1;
    this.#scope.stateChanged();
    const { subagents } = this.#scope;
    if (task.foreground || subagents.host === undefined) {
      this.#notifyFired(task, undefined);
    } else if (this.#starting.has(task.id) || isStillRunning(task, subagents)) {
      this.#notifyCreated(task);
    } else {
      this.#starting.add(task.id);
      void this.#startChild(task).finally(() => this.#starting.delete(task.id));
    }
  }

  /** Never rejects. */
  async #startChild(task: ScheduledTask): Promise<void> {
    const { subagents, logger } = this.#scope;
    try {
      const child = await startRun(task, subagents);
      if (this.#isClosed || this.#tasks.get(task.id) !== task) {
        await child.cancel("its scheduled task was removed");
        return;
      }
      task.lastSubagentId = child.id;
      this.#scope.stateChanged();
      this.#notifyFired(task, child.id);
    } catch (cause) {
      logger.warn(
        { taskId: task.id, cause },
        "a scheduled task could not start its run; the next one is tried",
      );
      if (this.#tasks.get(task.id) === task) this.#notifyCreated(task);
    }
  }

  #remove(task: ScheduledTask, reason: "deleted" | "expired" | "shutdown" | "unknown"): void {
    this.#tasks.delete(task.id);
    this.#heldUntilMs.delete(task.id);
    task.revision += 1;
    this.#scope.stateChanged();
    this.#notify({ type: "ScheduledTaskRemoved", reason, ...versionOf(task) });
  }

  #announce(task: ScheduledTask): void {
    this.#scope.stateChanged();
    this.#notifyCreated(task);
  }

  #notifyCreated(task: ScheduledTask): void {
    this.#notify({ type: "ScheduledTaskCreated", ...viewOf(task) });
  }

  #notifyFired(task: ScheduledTask, subagentId: string | undefined): void {
    this.#notify({ type: "ScheduledTaskFired", ...viewOf(task), subagent_id: subagentId ?? null });
  }

  #notify(notification: ToolNotification): void {
    this.#scope.notify(notification);
  }

  #jitterMs({ intervalSecs }: ScheduledTask): number {
    const share = Number.parseInt(this.#scope.ids.hex(2), 16) / 2 ** 16;
    return Math.floor(share * Math.min(MAX_JITTER_MS, intervalSecs * 100));
  }

  #unusedId(): string {
    let taskId = this.#scope.ids.hex(6);
    while (this.#tasks.has(taskId)) taskId = this.#scope.ids.hex(6);
    return taskId;
  }
}

type Version = { readonly task_id: string; readonly generation: string; readonly revision: number };

function versionOf({ id, generation, revision }: ScheduledTask): Version {
  return { task_id: id, generation, revision };
}

function viewOf(
  task: ScheduledTask,
): Version & { readonly prompt: string; readonly human_schedule: string; readonly next_fire_at: string } {
  return {
    ...versionOf(task),
    prompt: task.prompt,
    human_schedule: describeInterval(task.intervalSecs),
    next_fire_at: toTime(nextFireMs(task)),
  };
}

/** The scheduler of a session. Its tasks keep an idle session open. */
export const scheduler: ResourceDefinition<Scheduler> = {
  name: "scheduler",
  create: (scope) => new Scheduler(scope),
  dispose: (resource) => resource.close(),
  isBusy: (resource) => resource.list().length > 0,
  state: {
    key: "grok_build.Scheduler",
    load: (resource, value) => resource.load(value),
    save: (resource) => resource.save(),
  },
};
