import type { ChildProcess } from "node:child_process";
import { closeSync, writeFileSync } from "node:fs";
import { longShellText, openText, withTextFromDescriptor } from "./command-files.ts";
import { CommandOutputs } from "./command-outputs.ts";
import { endTree } from "./end-tree.ts";
import { MarkedTree } from "./marked-tree.ts";
import { COMMAND_MARK } from "./marks.ts";
import type {
  EndedMessage,
  FromHelper,
  KillReason,
  ProcessName,
  ReportedProcess,
  RunMessage,
} from "./message.ts";
import type { ChildStatus, NativeCalls } from "./native-calls.ts";
import type { PipeMark } from "./output-pipe.ts";
import { readProcessStat } from "./process-table.ts";
import { type ProcessTree, reportMembers, reportSurvivors, signalName } from "./process-tree.ts";
import { isSpawnFailure, spawnChild } from "./spawn-child.ts";
import { SubreaperTree } from "./subreaper-tree.ts";

export interface CommandTools {
  /** Undefined: no subreaper, members are found by their marks. */
  readonly native: NativeCalls | undefined;
  /** Private folder for FIFOs and texts. */
  readonly folder: string;
  send(message: FromHelper, bytes?: Uint8Array): void;
}

type EndReason = EndedMessage["reason"];
type ShellStatus = { readonly exitCode: number | null; readonly signal: string | null };
type Ending = { readonly reason: EndReason; readonly hurry: AbortController; done: Promise<void> };

const OUTPUT_LIMIT_GRACE_MS = 1000;
const PROGRESS_MS = 50;
/** How often what could not be killed is tried again, and how often left-overs are looked for without a subreaper. */
const RETRY_MS = 5000;
const RETRY_LIMIT_MS = 50;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One command from its start until nothing of it is left. Create it with {@link SupervisedCommand.start}. */
export class SupervisedCommand {
  readonly #spec: RunMessage;
  readonly #tools: CommandTools;
  readonly #startedAt = performance.now();
  readonly #timers = new Set<NodeJS.Timeout>();
  #starting: Promise<void> = Promise.resolve();
  #tree: ProcessTree | undefined;
  #outputs: CommandOutputs | undefined;
  #shellPid: number | undefined;
  #status: ShellStatus | undefined;
  readonly #shellEnd = Promise.withResolvers<void>();
  #deadline: NodeJS.Timeout | undefined;
  #statusWasTaken = false;
  #ending: Ending | undefined;
  #hasReported = false;
  #hasVacated = false;
  #progressTimer: NodeJS.Timeout | undefined;

  private constructor(spec: RunMessage, tools: CommandTools) {
    this.#spec = spec;
    this.#tools = tools;
  }

  /** Starts a command. Everything else is told by messages: `started`, `progress`, `ended`, `vacated`. */
  static start(spec: RunMessage, tools: CommandTools): SupervisedCommand {
    const command = new SupervisedCommand(spec, tools);
    command.#starting = command.#start().catch((error: unknown) => {
      command.#reportSpawnFailure(`the command could not be started: ${String(error)}`);
    });
    return command;
  }

  /** Ends the whole tree, also what an ended command left behind. A later call can only shorten the grace. */
  async kill(reason: KillReason, graceMs: number): Promise<void> {
    await this.#end(reason, graceMs);
  }

  /** Kills what is left and answers with `cleared`. */
  async release(): Promise<void> {
    await this.#end("killed", 0);
    this.#tools.send({
      type: "cleared",
      commandId: this.#spec.commandId,
      survivors: this.#tree === undefined || this.#hasVacated ? [] : reportSurvivors(this.#tree),
    });
  }

  sendOutput(requestId: number): void {
    const { streams, bytes } = this.#outputs?.report() ?? { streams: [], bytes: undefined };
    this.#tools.send({ type: "output", commandId: this.#spec.commandId, requestId, streams }, bytes);
  }

  /** A child of this process has ended: an adopted one may wait to be reaped. */
  onChildEnded(): void {
    if (this.#tree instanceof SubreaperTree && this.#tree.isEmpty() && this.#hasReported) this.#vacate();
  }

  async #start(): Promise<void> {
    const { native, folder } = this.#tools;
    const outputs = new CommandOutputs(this.#spec, {
      native,
      folder,
      onOutput: (bytes) => this.#onOutput(bytes),
    });
    this.#outputs = outputs;
    const texts: number[] = [];
    try {
      const open = (text: string): number => {
        const descriptor = openText(folder, text);
        texts.push(descriptor);
        return descriptor;
      };
      const { argv, stdin } = this.#spec;
      const text = longShellText(argv);
      const child = await spawnChild(
        { ...this.#spec, argv: text === undefined ? argv : withTextFromDescriptor(argv) },
        [
          stdin === undefined ? "ignore" : open(stdin),
          ...outputs.descriptors,
          ...(text === undefined ? [] : [open(text)]),
        ],
      );
      if (isSpawnFailure(child)) this.#reportSpawnFailure(child.message);
      else this.#watch(child, outputs.marks);
    } finally {
      outputs.closeWriters();
      for (const descriptor of texts) closeSync(descriptor);
    }
  }

  #watch(child: ChildProcess, pipes: readonly PipeMark[]): void {
    const pid = child.pid ?? 0;
    this.#shellPid = pid;
    preferForOutOfMemory(pid);
    const { native } = this.#tools;
    // It is still there, at least to be reaped: nobody has waited for it.
    const shell: ProcessName = { pid, startTicks: readProcessStat(pid)?.startTicks ?? 0 };
    if (native === undefined) {
      const environmentEntry = `${COMMAND_MARK}=${this.#spec.commandId}`;
      this.#tree = new MarkedTree({ environmentEntry, shell, pipes });
    } else {
      const tree = new SubreaperTree(native);
      tree.watchShell(pid, (status) => {
        this.#statusWasTaken = true;
        this.#onStatus(toStatus(status));
      });
      this.#tree = tree;
    }
    child.once("exit", (exitCode, signal) => {
      if (this.#tree instanceof SubreaperTree) this.#tree.forgetShell();
      else if (this.#tree instanceof MarkedTree) this.#tree.noteLeaderEnd();
      this.#onStatus({ exitCode, signal });
      if (this.#ending === undefined) void this.#finishNormally();
    });
    const { timeoutMs, timeoutGraceMs, commandId } = this.#spec;
    if (timeoutMs !== undefined) {
      this.#deadline = setTimeout(
        () => void this.#end("timed-out", timeoutGraceMs),
        Math.min(timeoutMs, MAX_TIMER_MS),
      );
    }
    this.#tools.send({ type: "started", commandId, shell });
  }

  #onStatus(status: ShellStatus): void {
    this.#status = status;
    clearTimeout(this.#deadline);
    this.#shellEnd.resolve();
  }

  /** The shell has ended by itself. */
  async #finishNormally(): Promise<void> {
    const tree = this.#tree;
    if (tree === undefined || this.#outputs === undefined) return;
    await this.#outputs.settle();
    if (this.#ending !== undefined) return;
    const isEmpty = tree.isEmpty();
    if (!isEmpty && !this.#spec.keepsLeftovers) {
      await this.#end("exited", 0);
      return;
    }
    this.#report("exited", { leftovers: isEmpty ? [] : reportMembers(tree), survivors: [] });
    if (isEmpty) this.#vacate();
    else this.#watchLeftovers();
  }

  async #end(reason: EndReason, graceMs: number): Promise<void> {
    if (this.#hasVacated) return;
    if (this.#ending === undefined) {
      const hurry = new AbortController();
      const ending: Ending = { reason, hurry, done: Promise.resolve() };
      this.#ending = ending;
      ending.done = this.#runEnd(ending, graceMs);
    } else {
      // Somebody has asked before. Let the shorter grace win.
      this.#later(graceMs, this.#ending.hurry.abort.bind(this.#ending.hurry));
    }
    await this.#ending.done;
  }

  async #runEnd(ending: Ending, graceMs: number): Promise<void> {
    // The wish may come in one piece with the start.
    await this.#starting;
    const tree = this.#tree;
    // It could not be started: told already, and there is nothing to end.
    if (tree === undefined || this.#outputs === undefined) return;
    // The number of a group whose leader was reaped may be another's.
    const groupId = this.#status === undefined ? this.#shellPid : undefined;
    await endTree(tree, { graceMs, groupId, wrapper: this.#spec.wrapper, hurry: ending.hurry.signal });
    await this.#outputs.settle();
    const isEmpty = tree.isEmpty();
    // Node tells of the shell's end a turn later than the kernel.
    if (isEmpty) await this.#shellEnd.promise;
    this.#clearTimers();
    this.#report(ending.reason, { leftovers: [], survivors: isEmpty ? [] : reportSurvivors(tree) });
    if (isEmpty) this.#vacate();
    else this.#watchLeftovers();
  }

  #report(
    reason: EndReason,
    left: { leftovers: readonly ReportedProcess[]; survivors: readonly ReportedProcess[] },
  ): void {
    if (this.#hasReported) return;
    this.#hasReported = true;
    this.#outputs?.limitLogs(this.#spec.keptLogBytes);
    const { streams, bytes } = this.#outputs?.report() ?? { streams: [], bytes: undefined };
    const message: EndedMessage = {
      type: "ended",
      commandId: this.#spec.commandId,
      reason,
      exitCode: this.#status?.exitCode ?? null,
      signal: this.#status?.signal ?? null,
      durationMs: Math.round(performance.now() - this.#startedAt),
      ...left,
      streams,
    };
    this.#tools.send(message, bytes);
  }

  #reportSpawnFailure(spawnError: string): void {
    if (this.#hasReported) return;
    this.#hasReported = true;
    const durationMs = Math.round(performance.now() - this.#startedAt);
    const none = { exitCode: null, signal: null, survivors: [], leftovers: [], streams: [] };
    const { commandId } = this.#spec;
    this.#tools.send({ type: "ended", commandId, reason: "spawn-failed", durationMs, spawnError, ...none });
    this.#vacate();
  }

  #watchLeftovers(): void {
    const look = (): void => {
      if (this.#hasVacated || this.#tree === undefined) return;
      // Asked to end and still here: processes that could not be killed are tried again.
      if (this.#ending !== undefined) this.#tree.killAll(RETRY_LIMIT_MS);
      if (this.#tree.isEmpty()) this.#vacate();
      else this.#later(RETRY_MS, look);
    };
    this.#later(RETRY_MS, look);
    // The usual sign that the last one has gone.
    void this.#outputs?.ended.then(look);
  }

  /** Nothing is left: the supervisor is free again. */
  #vacate(): void {
    if (this.#hasVacated) return;
    this.#hasVacated = true;
    this.#clearTimers();
    this.#outputs?.dropMarks();
    // A descriptor that outlived all its processes was sent to a stranger; its output is not ours.
    void (this.#outputs?.settle() ?? Promise.resolve()).then(async () => {
      await this.#outputs?.close();
      clearTimeout(this.#progressTimer);
      this.#sendProgress();
      // A status that Node did not see leaves a handle behind in this process.
      this.#tools.send({
        type: "vacated",
        commandId: this.#spec.commandId,
        isReusable: !this.#statusWasTaken,
      });
    });
  }

  #onOutput(totalBytes: number): void {
    if (totalBytes > this.#spec.maxOutputBytes && this.#ending === undefined && !this.#hasReported) {
      void this.#end("output-limit", OUTPUT_LIMIT_GRACE_MS);
    }
    this.#progressTimer ??= setTimeout(() => this.#sendProgress(), PROGRESS_MS);
  }

  #sendProgress(): void {
    this.#progressTimer = undefined;
    this.#tools.send({
      type: "progress",
      commandId: this.#spec.commandId,
      totals: this.#outputs?.totals ?? [],
    });
  }

  #later(delayMs: number, callback: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      callback();
    }, delayMs);
    this.#timers.add(timer);
  }

  #clearTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}

function toStatus({ exitCode, signalNumber }: ChildStatus): ShellStatus {
  return { exitCode, signal: signalNumber === null ? null : signalName(signalNumber) };
}

/** When memory runs out the kernel takes a command before its supervisor or the server. */
function preferForOutOfMemory(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, "500");
  } catch {
    // Ended already, or no such file on this system.
  }
}
