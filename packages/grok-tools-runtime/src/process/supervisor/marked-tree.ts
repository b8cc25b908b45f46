import type { ProcessName } from "./message.ts";
import {
  hasEnvironmentEntry,
  holdsPipe,
  listProcesses,
  type ProcessStat,
  readProcessStat,
} from "./process-table.ts";
import { type ProcessTree, pause, trySignal } from "./process-tree.ts";

/** How the members of a command can be told from other processes. */
export interface Marks {
  /** `NAME=value` in the environment of every member that did not clear it. */
  readonly environmentEntry: string;
  /** Leader of the command's session and group. */
  readonly shell?: ProcessName | undefined;
  /** The command's output pipes; somebody must hold them open as long as the tree is used. */
  readonly pipes?: readonly { readonly dev: number; readonly ino: number }[] | undefined;
  /** Processes that are never members, besides this one. */
  readonly strangers?: ReadonlySet<number>;
}

/** A process may fork between the listing and the look at it, so one empty pass proves nothing. */
const EMPTY_PASSES = 3;

/**
 * The processes of a command found by what they inherited: group, session, parent, environment, output pipe.
 *
 * Works without any privilege and after the supervisor's death. Misses a double-forked process that cleared its
 * environment and closed its descriptors.
 */
export class MarkedTree implements ProcessTree {
  readonly #marks: Marks;
  #sessionId: number | undefined;
  /** Start time by pid of what was found once: a member stays one after it has lost its marks. */
  readonly #known = new Map<number, number>();

  constructor(marks: Marks) {
    this.#marks = marks;
    this.#sessionId = marks.shell?.pid;
  }

  /**
   * The leader was reaped, in this turn: whoever is in its session now is a member. Afterwards the number may be given
   * to another session.
   */
  noteLeaderEnd(): void {
    const sessionId = this.#sessionId;
    if (sessionId === undefined) return;
    for (const stat of listProcesses()) {
      if (isIn(stat, sessionId)) this.#known.set(stat.pid, stat.startTicks);
    }
  }

  members(): number[] {
    const processes = listProcesses().filter(
      (stat) =>
        stat.state !== "Z" && stat.pid !== process.pid && this.#marks.strangers?.has(stat.pid) !== true,
    );
    if (!this.#ownsSession(processes)) this.#sessionId = undefined;
    const found = new Map<number, ProcessStat>();
    for (const stat of processes) {
      if (this.#isMarked(stat)) found.set(stat.pid, stat);
    }
    // Listed by pid, so a child may come before its parent when pids have wrapped: repeat until nothing is added.
    let size = -1;
    while (size !== found.size) {
      size = found.size;
      for (const stat of processes) {
        if (found.has(stat.parentPid)) found.set(stat.pid, stat);
      }
    }
    this.#known.clear();
    for (const stat of found.values()) this.#known.set(stat.pid, stat.startTicks);
    return [...found.keys()];
  }

  isEmpty(): boolean {
    for (let pass = 0; pass < EMPTY_PASSES; pass++) {
      if (this.members().length > 0) return false;
    }
    return true;
  }

  killAll(timeLimitMs: number): void {
    const deadline = performance.now() + timeLimitMs;
    let emptyPasses = 0;
    while (emptyPasses < EMPTY_PASSES && performance.now() < deadline) {
      const members = this.#stopAll(deadline);
      emptyPasses = members.length === 0 ? emptyPasses + 1 : 0;
      for (const pid of members) this.#signal(pid, "SIGKILL");
      if (members.length > 0) pause(2);
    }
  }

  /** Stops members until no further one is found: what is stopped cannot fork. */
  #stopAll(deadline: number): number[] {
    let members = this.members();
    let count = 0;
    while (members.length > count && performance.now() < deadline) {
      count = members.length;
      for (const pid of members) this.#signal(pid, "SIGSTOP");
      members = this.members();
    }
    return members;
  }

  #signal(pid: number, signal: NodeJS.Signals): void {
    // The number may belong to another process by now.
    if (readProcessStat(pid)?.startTicks === this.#known.get(pid)) trySignal(pid, signal);
  }

  #isMarked(stat: ProcessStat): boolean {
    const sessionId = this.#sessionId;
    return (sessionId !== undefined && isIn(stat, sessionId)) || this.#isMarkedItself(stat);
  }

  #isMarkedItself(stat: ProcessStat): boolean {
    const { pipes = [], environmentEntry } = this.#marks;
    if (this.#known.get(stat.pid) === stat.startTicks) return true;
    if (hasEnvironmentEntry(stat.pid, environmentEntry)) return true;
    return pipes.some((pipe) => holdsPipe(stat.pid, pipe));
  }

  /**
   * The kernel gives the number away when the last of the session and group is gone, and may give it to the leader of
   * another session. So it counts while its leader is the shell, and later while somebody in it is known to be ours.
   */
  #ownsSession(processes: readonly ProcessStat[]): boolean {
    const { shell } = this.#marks;
    const sessionId = this.#sessionId;
    if (shell === undefined || sessionId === undefined) return false;
    const leader = readProcessStat(sessionId);
    if (leader !== undefined) return leader.startTicks === shell.startTicks;
    return processes.some((stat) => isIn(stat, sessionId) && this.#isMarkedItself(stat));
  }
}

function isIn(stat: ProcessStat, sessionId: number): boolean {
  return stat.sessionId === sessionId || stat.groupId === sessionId;
}
