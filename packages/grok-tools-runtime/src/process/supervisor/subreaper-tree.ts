import type { ChildStatus, NativeCalls } from "./native-calls.ts";
import { descendantsOf } from "./process-table.ts";
import { type ProcessTree, pause, trySignal } from "./process-tree.ts";

/** Passes that find the same processes before the kill loop begins to wait between passes. */
const EAGER_PASSES = 50;

/**
 * Everything below this process, which is a child subreaper: whoever leaves the tree comes back as a child.
 *
 * Exact as long as this process runs one command at a time: no child left (`ECHILD`) proves that nothing is left.
 */
export class SubreaperTree implements ProcessTree {
  readonly #native: NativeCalls;
  #shellPid: number | undefined;
  #onShellStatus: ((status: ChildStatus) => void) | undefined;

  constructor(native: NativeCalls) {
    this.#native = native;
  }

  /**
   * Names the child whose status Node waits for. It is left to Node, except while {@link SubreaperTree.killAll}
   * blocks: then `onStatus` gets it, and Node's own event will never come.
   */
  watchShell(pid: number, onStatus: (status: ChildStatus) => void): void {
    this.#shellPid = pid;
    this.#onShellStatus = onStatus;
  }

  /** Node has reaped the shell. */
  forgetShell(): void {
    this.#shellPid = undefined;
    this.#onShellStatus = undefined;
  }

  members(): number[] {
    return descendantsOf(process.pid);
  }

  /** Reaps adopted processes that have ended: Node never does. */
  isEmpty(): boolean {
    let ended = this.#native.peekEndedChild();
    while (ended > 0 && ended !== this.#shellPid) {
      this.#native.reapChild(ended);
      ended = this.#native.peekEndedChild();
    }
    return ended === -1;
  }

  killAll(timeLimitMs: number): void {
    const deadline = performance.now() + timeLimitMs;
    let previous = "";
    let samePasses = 0;
    while (!this.#reapAll() && performance.now() < deadline) {
      const members = this.members();
      for (const pid of members) trySignal(pid, "SIGKILL");
      // A process that forks faster than a pass needs a tight loop; one that cannot die does not.
      const current = members.join();
      samePasses = current === previous ? samePasses + 1 : 0;
      previous = current;
      if (samePasses > EAGER_PASSES) pause(5);
    }
  }

  /** True when there is no child. */
  #reapAll(): boolean {
    let ended = this.#native.peekEndedChild();
    while (ended > 0) {
      const status = this.#native.reapChild(ended);
      if (ended === this.#shellPid && status !== undefined) {
        this.#onShellStatus?.(status);
        this.forgetShell();
      }
      ended = this.#native.peekEndedChild();
    }
    return ended === -1;
  }
}
