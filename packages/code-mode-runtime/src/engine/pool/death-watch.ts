import { type ChildProcess, spawn } from "node:child_process";
import type { Logger } from "@trivium/core";

const shell = "/bin/sh";

/** Keeps a list of process ids, and kills them when its input ends, which only the end of the server does. */
const script = `trap '' HUP INT QUIT TERM
pids=' '
while read -r change pid; do
  case $change in
    add) pids="$pids$pid ";;
    remove) pids="\${pids%% $pid *} \${pids#* $pid }";;
  esac
done
for pid in $pids; do kill -9 "$pid"; done`;

/**
 * Ends worker processes when the server is killed. A worker sees that by itself, unless its main thread has come to a
 * standstill; a small shell that waits for the end of a pipe does not depend on it. Without a shell (Windows, bare
 * containers) only the workers' own look-out is left.
 */
export class DeathWatch implements Disposable {
  readonly #logger: Logger;
  readonly #pids = new Set<number>();
  #shell: ChildProcess | undefined;
  #isAvailable = process.platform !== "win32";

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The process is to end with the server. */
  add(pid: number): void {
    this.#pids.add(pid);
    if (this.#shell === undefined) this.#start();
    else this.#tell("add", pid);
  }

  /** The process is gone: its id may soon be another's. */
  remove(pid: number): void {
    if (this.#pids.delete(pid)) this.#tell("remove", pid);
  }

  /** Every process is gone, or is not to be ended. */
  [Symbol.dispose](): void {
    this.#isAvailable = false;
    for (const pid of this.#pids) this.remove(pid);
    this.#shell?.stdin?.end();
  }

  #start(): void {
    if (!this.#isAvailable) return;
    // In a group of its own: what is sent to the server's group must not end it first.
    const child = spawn(shell, ["-c", script], {
      cwd: "/",
      env: {},
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    child.on("error", (error) => {
      // Without a shell it never works; without descriptors it may with the next worker.
      if ("code" in error && (error.code === "ENOENT" || error.code === "EACCES")) this.#isAvailable = false;
      this.#logger.info({ error }, "cell workers are not watched by a shell");
      this.#lost(child);
    });
    child.on("exit", () => this.#lost(child));
    // Without descriptors there is no stream, and the error above follows.
    const stdin: ChildProcess["stdin"] | undefined = child.stdin;
    if (child.pid === undefined || stdin === null || stdin === undefined) return;
    stdin.on("error", () => this.#lost(child));
    this.#shell = child;
    child.unref();
    if ("unref" in stdin && typeof stdin.unref === "function") stdin.unref();
    for (const pid of this.#pids) this.#tell("add", pid);
  }

  #tell(change: "add" | "remove", pid: number): void {
    this.#shell?.stdin?.write(`${change} ${pid}\n`);
  }

  /** The next worker brings another. */
  #lost(child: ChildProcess): void {
    if (this.#shell === child) this.#shell = undefined;
  }
}
