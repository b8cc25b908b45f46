import { type ChildProcess, spawn } from "node:child_process";
import { HELPER_START_VARIABLE, type HelperStart } from "./helper-connection.ts";
import { MarkedTree } from "./marked-tree.ts";
import { COMMAND_MARK, SERVER_MARK } from "./marks.ts";
import type { CleanUpMessage, FromHelper, HelperRole, ProcessName, ReportedProcess } from "./message.ts";
import type { NativeCalls } from "./native-calls.ts";
import { childrenOf, commandLineOf, descendantsOf, isRunning } from "./process-table.ts";
import { type ProcessTree, pause, reportSurvivors, trySignal } from "./process-tree.ts";

export interface GuardianTools {
  readonly start: HelperStart;
  readonly native: NativeCalls | undefined;
  send(message: FromHelper): void;
}

const KILL_LIMIT_MS = 5000;
/** What other helpers need to end their commands after the server's death. */
const LAST_WAIT_MS = 1000;

/**
 * Parent of all other helpers. It starts them, so that the server never forks, and inherits the processes of a
 * supervisor that was killed: they are its children then, and it ends them.
 */
export class Guardian {
  readonly #tools: GuardianTools;
  readonly #helpers = new Map<number, ChildProcess>();

  constructor(tools: GuardianTools) {
    this.#tools = tools;
  }

  startHelper(role: HelperRole, token: string): void {
    const start: HelperStart = { ...this.#tools.start, role, token };
    const [, script = ""] = process.argv;
    const child = spawn(process.execPath, [...process.execArgv, script], {
      cwd: "/",
      env: { ...process.env, [HELPER_START_VARIABLE]: JSON.stringify(start) },
      stdio: ["ignore", "ignore", "inherit"],
      detached: true,
    });
    const { pid } = child;
    if (pid !== undefined) this.#helpers.set(pid, child);
    child.once("error", (error) => this.#tools.send({ type: "helper-ended", token, why: String(error) }));
    child.once("exit", (exitCode, signal) => {
      if (pid !== undefined) this.#helpers.delete(pid);
      this.#endOrphans(KILL_LIMIT_MS);
      this.#tools.send({ type: "helper-ended", token, why: signal ?? `exit code ${exitCode}` });
    });
  }

  /** A child has ended. What programs leave behind becomes a child of this process, and Node never reaps that. */
  onChildEnded(): void {
    const { native } = this.#tools;
    if (native !== undefined) this.#orphans(native);
  }

  /** Ends what a lost supervisor has left and tells what could not be ended. */
  cleanUp({ supervisor, commandId, shell }: CleanUpMessage): void {
    // Its channel is gone, but it may hang. It need not be a child of this process: guardians are replaced.
    if (isRunning(supervisor)) trySignal(supervisor.pid, "SIGKILL");
    const deadline = performance.now() + KILL_LIMIT_MS;
    while (isRunning(supervisor) && performance.now() < deadline) pause(1);
    const survivors = this.#endOrphans(KILL_LIMIT_MS);
    if (commandId !== undefined) {
      const environmentEntry = `${COMMAND_MARK}=${commandId}`;
      survivors.push(...this.#endMarked({ environmentEntry, shell }));
    }
    this.#tools.send({ type: "cleaned-up", supervisorPid: supervisor.pid, survivors });
  }

  /** The server is gone: waits for the helpers to end their commands, then ends what is left. */
  async endAll(): Promise<void> {
    const gone = [...this.#helpers.values()].map(
      (child) => new Promise<void>((resolve) => void child.once("exit", () => resolve())),
    );
    const limit = new Promise<void>((resolve) => void setTimeout(resolve, LAST_WAIT_MS));
    await Promise.race([Promise.all(gone), limit]);
    for (const child of this.#helpers.values()) child.kill("SIGKILL");
    this.#helpers.clear();
    this.#endOrphans(KILL_LIMIT_MS);
    if (this.#tools.native === undefined) {
      this.#endMarked({ environmentEntry: `${SERVER_MARK}=${this.#tools.start.serverId}` });
    }
  }

  /** Children that are no helpers came from a helper that is dead. */
  #endOrphans(limitMs: number): ReportedProcess[] {
    const { native } = this.#tools;
    if (native === undefined) return [];
    const deadline = performance.now() + limitMs;
    let orphans = this.#orphans(native);
    while (orphans.length > 0 && performance.now() < deadline) {
      for (const pid of orphans.flatMap((orphan) => [orphan, ...descendantsOf(orphan)]))
        trySignal(pid, "SIGKILL");
      orphans = this.#orphans(native);
    }
    return orphans.map((pid) => ({ pid, commandLine: commandLineOf(pid), why: "unattributed" }));
  }

  /** Adopted children that live; those that have ended are reaped. */
  #orphans(native: NativeCalls): number[] {
    return childrenOf(process.pid).filter(
      (pid) => !this.#helpers.has(pid) && native.reapChild(pid) === undefined,
    );
  }

  #endMarked(marks: { environmentEntry: string; shell?: ProcessName | undefined }): ReportedProcess[] {
    const tree: ProcessTree = new MarkedTree({ ...marks, strangers: new Set(this.#helpers.keys()) });
    tree.killAll(KILL_LIMIT_MS);
    return reportSurvivors(tree);
  }
}
