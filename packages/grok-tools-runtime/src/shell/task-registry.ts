import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, type JsonValue } from "../json.ts";
import type { Command } from "../process/command-runner.ts";
import type { ResourceDefinition, SessionScope } from "../session-resource.ts";
import { MAX_COMMANDS_WITH_LEFTOVERS } from "./leftover-limit.ts";
import { logFolder } from "./log-folder.ts";
import { ShellTask, type ShellTaskStart } from "./shell-task.ts";
import { taskReminders } from "./task-reminders.ts";
import { taskCompleted } from "./task-snapshot.ts";
import { type TaskTombstone, type TaskTombstones, taskTombstones } from "./task-tombstones.ts";

/** Ended tasks that stay known. */
const MAX_ENDED_TASKS = 100;
/** Told ends in the saved state. */
const MAX_REPORTED_IDS = 500;
const SESSION_END_GRACE_MS = 1000;
const MAX_NAME_CHARACTERS = 128;

/** The background tasks of one session, and what its foreground commands have left running. */
export class TaskRegistry {
  /** Ends of tasks are told to the model unless a toolset wishes otherwise. */
  tellsCompletions = true;
  readonly #scope: SessionScope;
  readonly #tasks = new Map<string, ShellTask>();
  readonly #leftovers = new Set<Command>();
  readonly #openLogs = new Set<string>();
  /** Ends of tasks on their way to the host. */
  readonly #untold = new Set<Promise<void>>();
  /** Ids of earlier runs of this session whose end was told. */
  readonly #reported = new Set<string>();
  readonly #tombstones: TaskTombstones;
  #isClosed = false;

  constructor(scope: SessionScope) {
    this.#scope = scope;
    this.#tombstones = scope.resource(taskTombstones);
  }

  /** Takes a running command over; it ends with the session. */
  add(start: Omit<ShellTaskStart, "clock">): ShellTask {
    const task = new ShellTask({ ...start, clock: this.#scope.clock });
    this.#tasks.set(task.taskId, task);
    this.#tombstones.record(task);
    if (this.#isClosed) void task.kill(SESSION_END_GRACE_MS);
    const told = this.#tellEnd(task);
    this.#untold.add(told);
    void told.then(() => this.#untold.delete(told));
    void task.finished.then(() => {
      this.#tombstones.record(task);
      if (!this.#isClosed) this.#scope.stateChanged();
      if (task.hasLeftovers && !this.keepLeftovers(task.running)) {
        task.areLeftoversEnded = true;
        void task.running.release();
      }
      this.#forgetOldest();
    });
    return task;
  }

  get(taskId: string): ShellTask | undefined {
    return this.#tasks.get(taskId);
  }

  /** What is known of a task that has left the registry, or was one of an earlier life of the session. */
  tombstone(taskId: string): TaskTombstone | undefined {
    return this.#tasks.has(taskId) ? undefined : this.#tombstones.get(taskId);
  }

  /** Ids of all tasks that are known, whichever life they are of. */
  knownIds(): string[] {
    return [...new Set([...this.#tombstones.ids(), ...this.#tasks.keys()])];
  }

  /** Client name of the first configured tool of a kind. */
  toolName(kind: string): string | undefined {
    return this.#scope.toolName(kind);
  }

  /** In the order they were started. */
  list(): ShellTask[] {
    return [...this.#tasks.values()];
  }

  get isBusy(): boolean {
    return this.list().some((task) => !task.hasEnded);
  }

  /**
   * Keeps what an ended command left running until the session ends. False: the session has ended, or has kept that of
   * too many commands; then the caller releases the command.
   */
  keepLeftovers(command: Command): boolean {
    if (this.#isClosed || this.#leftovers.size >= MAX_COMMANDS_WITH_LEFTOVERS) return false;
    this.#leftovers.add(command);
    void command.vacated.then(() => this.#leftovers.delete(command));
    return true;
  }

  /**
   * Path of a new log, named after the call. Its folder exists. A name gets a number while it is that of a known task
   * or while something of a command still writes it.
   *
   * @returns the path, to be given back with {@link TaskRegistry.closeLog}
   */
  async openLog(callId: string): Promise<string> {
    const folder = logFolder(this.#scope.sessionFolder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = fileNameOf(callId);
    let path = join(folder, `${name}.log`);
    const isTaken = (): boolean => this.#openLogs.has(path) || this.#tombstones.ownsLog(path);
    for (let count = 2; isTaken(); count++) path = join(folder, `${name}-${count}.log`);
    this.#openLogs.add(path);
    return path;
  }

  /** Nothing of the command that wrote the log is left. */
  closeLog(path: string): void {
    if (this.list().some((task) => task.outputFile === path)) return;
    this.#openLogs.delete(path);
  }

  /** True when the end of this task was told in an earlier life of the session or in this one. */
  wasReported(task: ShellTask): boolean {
    return task.isReported || this.#reported.has(task.taskId);
  }

  /** Ids for the saved state. */
  reportedIds(): string[] {
    const own = this.list().filter((task) => task.isReported);
    return [...this.#reported, ...own.map((task) => task.taskId)].slice(-MAX_REPORTED_IDS);
  }

  /** Takes over the ids of an earlier life. */
  loadReported(taskIds: readonly string[]): void {
    for (const taskId of taskIds) this.#reported.add(taskId);
  }

  /** Ends every task and everything that was left running. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const commands = new Set([...this.list().map((task) => task.running), ...this.#leftovers]);
    await Promise.all(
      [...commands].map(async (command) => {
        await command.kill("session-ended", SESSION_END_GRACE_MS);
        await command.release();
      }),
    );
    await Promise.all(this.#untold);
  }

  async #tellEnd(task: ShellTask): Promise<void> {
    await task.finished;
    await task.toldBefore;
    this.#scope.notify(await taskCompleted(task, this.#scope));
  }

  #forgetOldest(): void {
    const ended = this.list().filter((task) => task.hasEnded);
    for (const task of ended.slice(0, Math.max(0, ended.length - MAX_ENDED_TASKS))) {
      this.#tasks.delete(task.taskId);
      // What it has left running stays until the session ends, as that of a foreground command.
      void task.running.vacated.then(() => this.closeLog(task.outputFile));
    }
  }
}

/** The background tasks of a session. */
export const taskRegistry: ResourceDefinition<TaskRegistry> = {
  name: "background tasks",
  create: (scope) => new TaskRegistry(scope),
  dispose: (registry) => registry.close(),
  isBusy: (registry) => registry.isBusy,
  reminders: taskReminders,
  state: {
    key: "grok_build.ReportedTaskCompletions",
    load(registry, value) {
      const taskIds = toTaskIds(value);
      if (taskIds === undefined) return false;
      registry.loadReported(taskIds);
      return true;
    },
    save: (registry) => ({ reported: registry.reportedIds() }),
  },
};

function toTaskIds(value: JsonValue): string[] | undefined {
  const reported = isJsonObject(value) ? value["reported"] : undefined;
  if (!Array.isArray(reported)) return undefined;
  return reported.every((taskId) => typeof taskId === "string") ? reported : undefined;
}

/** A caller's id as a file name: it must not lead to another folder, and two ids must not share a name. */
function fileNameOf(callId: string): string {
  if (/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/.test(callId)) return callId;
  const plain = callId.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_NAME_CHARACTERS - 17);
  return `${plain}-${createHash("sha256").update(callId).digest("hex").slice(0, 16)}`;
}
