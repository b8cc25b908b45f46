import { type Clock, type Logger, TriviumError } from "@trivium/core";
import type {
  Command,
  CommandEnd,
  CommandOutput,
  CommandSpec,
  CommandStatus,
  OutputChunk,
  OutputStream,
} from "./command-runner.ts";
import { CommandStream, noOutput, toOutputs } from "./command-stream.ts";
import type { Helper } from "./helper.ts";
import { COMMAND_MARK, SERVER_MARK } from "./supervisor/marks.ts";
import type {
  CleanUpMessage,
  EndedMessage,
  FromHelper,
  ProcessName,
  ReportedProcess,
} from "./supervisor/message.ts";

export interface RunDeps {
  readonly commandId: string;
  readonly serverId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes a command that waits out of the queue. False: a supervisor is on its way to it. */
  leaveQueue(): boolean;
  /** The command has its result and needs no place any more. */
  onEnded(): void;
  /** Nothing of the command is left. */
  onVacated(supervisor: Helper, isReusable: boolean): void;
  /** The supervisor is gone. */
  onLost(): void;
  cleanUp(request: Omit<CleanUpMessage, "type">): Promise<readonly ReportedProcess[]>;
}

type KillReason = "cancelled" | "killed" | "session-ended";

const DEFAULT_GRACE_MS = 1000;
const DEFAULT_MAX_OUTPUT_BYTES = 5 * 1024 ** 3;
const KEPT_LOG_BYTES = 64 * 1024 ** 2;
/** What a supervisor may need beyond the grace before it counts as hung: its kill loop gives up after 5 s. */
const HUNG_MS = 9000;

/** The server's side of one command. */
export class SupervisedRun implements Command {
  readonly commandId: string;
  readonly startedAtMs: number;
  readonly ended: Promise<CommandEnd>;
  readonly #spec: CommandSpec;
  readonly #deps: RunDeps;
  readonly #stdout: CommandStream;
  readonly #stderr: CommandStream | undefined;
  readonly #startedAt: number;
  readonly #end = Promise.withResolvers<CommandEnd>();
  readonly #started = Promise.withResolvers<void>();
  readonly #vacated = Promise.withResolvers<void>();
  /** A release is done, whether it could end everything or not. */
  readonly #cleared = Promise.withResolvers<void>();
  readonly #outputRequests = new Map<number, (outputs: readonly CommandOutput[]) => void>();
  #supervisor: Helper | undefined;
  #shell: ProcessName | undefined;
  #status: CommandStatus = "queued";
  #result: CommandEnd | undefined;
  #survivors: readonly ReportedProcess[] = [];
  #hasVacated = false;
  #killReason: KillReason | undefined;
  #requestCount = 0;
  #hungTimer: Disposable | undefined;
  /** Runs while the command waits and that counts. */
  #waitTimer: Disposable | undefined;

  constructor(spec: CommandSpec, deps: RunDeps) {
    this.#spec = spec;
    this.#deps = deps;
    this.commandId = deps.commandId;
    this.startedAtMs = deps.clock.now();
    this.#startedAt = deps.clock.monotonic();
    this.ended = this.#end.promise;
    const { logPath, stderrLogPath, timeoutMs, countsWaiting } = spec;
    if (timeoutMs !== undefined && countsWaiting === true) {
      this.#waitTimer = deps.clock.setTimer(timeoutMs, () => this.#endWaiting("timed-out"));
    }
    this.#stdout = new CommandStream(logPath, async () => (await this.#askForOutputs())[0]);
    if (stderrLogPath !== undefined) {
      this.#stderr = new CommandStream(stderrLogPath, async () => (await this.#askForOutputs())[1]);
    }
  }

  get pid(): number | undefined {
    return this.#shell?.pid;
  }

  get status(): CommandStatus {
    return this.#status;
  }

  get outputBytes(): number {
    return this.#stdout.outputBytes;
  }

  get stderr(): OutputStream | undefined {
    return this.#stderr;
  }

  /** Resolves when the process runs, or has failed to. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  get vacated(): Promise<void> {
    return this.#vacated.promise;
  }

  /** True when nothing is left. */
  get hasVacated(): boolean {
    return this.#hasVacated;
  }

  /** A place is free: runs on this supervisor. */
  runOn(supervisor: Helper): void {
    if (this.#result !== undefined) {
      this.#setVacated();
      this.#deps.onVacated(supervisor, true);
      return;
    }
    this.#waitTimer?.[Symbol.dispose]();
    this.#supervisor = supervisor;
    this.#status = "running";
    supervisor.listen(
      (message, bytes) => this.#onMessage(message, bytes),
      () => void this.#onLost(),
    );
    const { argv, workingDirectory, env, stdin, logPath, stderrLogPath, headBytes, tailBytes } = this.#spec;
    const { commandId, serverId } = this.#deps;
    const timeoutMs = this.#remainingMs();
    supervisor.send({
      type: "run",
      commandId,
      argv,
      wrapper: this.#spec.wrapper,
      workingDirectory,
      env: { ...env, [COMMAND_MARK]: commandId, [SERVER_MARK]: serverId },
      stdin,
      timeoutMs,
      timeoutGraceMs: this.#spec.timeoutGraceMs ?? DEFAULT_GRACE_MS,
      logPath,
      stderrLogPath,
      headBytes,
      tailBytes,
      maxOutputBytes: this.#spec.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES,
      keptLogBytes: KEPT_LOG_BYTES,
      keepsLeftovers: this.#spec.keepsLeftovers ?? false,
    });
    if (timeoutMs !== undefined) {
      this.#watchForHang(timeoutMs + (this.#spec.timeoutGraceMs ?? DEFAULT_GRACE_MS));
    }
  }

  /** It cannot be run. */
  fail(reason: "spawn-failed" | "session-ended", spawnError: string | undefined): void {
    this.#setVacated();
    this.#finish(this.#endWithoutRun(reason, spawnError));
  }

  output(): Promise<CommandOutput> {
    return this.#stdout.output();
  }

  readLog(offset: number, maxBytes: number): Promise<Uint8Array> {
    return this.#stdout.readLog(offset, maxBytes);
  }

  chunks(signal: AbortSignal): AsyncIterable<OutputChunk> {
    return this.#stdout.chunks(signal);
  }

  async kill(reason: KillReason, graceMs: number): Promise<CommandEnd> {
    if (this.#status === "queued") {
      this.#endWaiting(reason);
      return await this.ended;
    }
    if (this.#result === undefined) {
      this.#killReason ??= reason;
      this.#supervisor?.send({ type: "kill", commandId: this.commandId, reason, graceMs });
      this.#watchForHang(graceMs);
      return await this.ended;
    }
    await this.release();
    return { ...this.#result, leftovers: [], survivors: this.#survivors };
  }

  async release(): Promise<void> {
    if (this.#result === undefined) await this.kill("killed", 0);
    if (this.#hasVacated || this.#supervisor === undefined) return;
    this.#supervisor.send({ type: "release", commandId: this.commandId });
    this.#watchForHang(0);
    await Promise.race([this.#vacated.promise, this.#cleared.promise]);
  }

  #onMessage(message: FromHelper, bytes: Uint8Array): void {
    if (!("commandId" in message) || message.commandId !== this.commandId) return;
    switch (message.type) {
      case "started":
        this.#shell = message.shell;
        this.#started.resolve();
        break;
      case "progress":
        for (const [index, stream] of this.#streams().entries()) stream.announce(message.totals[index] ?? 0);
        break;
      case "output":
        this.#outputRequests.get(message.requestId)?.(toOutputs(message.streams, bytes));
        this.#outputRequests.delete(message.requestId);
        break;
      case "ended":
        this.#finish(toEnd(message), toOutputs(message.streams, bytes));
        break;
      case "cleared":
        this.#survivors = message.survivors;
        // With survivors the supervisor stays and goes on trying; nobody needs to wait for that.
        this.#hungTimer?.[Symbol.dispose]();
        if (message.survivors.length > 0) this.#cleared.resolve();
        break;
      case "vacated":
        this.#setVacated();
        if (this.#supervisor !== undefined) this.#deps.onVacated(this.#supervisor, message.isReusable);
        break;
    }
  }

  /** The supervisor is gone: the guardian ends what it has left. */
  async #onLost(): Promise<void> {
    if (this.#hasVacated) return;
    const { commandId } = this;
    const { pid = 0, startTicks = 0 } = this.#supervisor ?? {};
    this.#deps.logger.error({ commandId, supervisorPid: pid }, "a supervisor is gone before its command");
    // A shell that has ended has given its number away.
    const shell = this.#result === undefined ? this.#shell : undefined;
    const survivors = await this.#deps
      .cleanUp({ supervisor: { pid, startTicks }, commandId, shell })
      .catch((error: unknown) => {
        this.#deps.logger.error({ commandId, error }, "cannot clean up after a lost supervisor");
        return [];
      });
    this.#survivors = survivors;
    if (this.#result === undefined) {
      const { headBytes, tailBytes } = this.#spec;
      const outputs = await Promise.all(
        this.#streams().map((stream) => stream.rebuild(headBytes, tailBytes)),
      );
      const reason = this.#killReason ?? "supervisor-lost";
      this.#finish({ ...this.#endWithoutRun(reason, undefined), survivors }, outputs);
    }
    this.#setVacated();
    this.#deps.onLost();
  }

  #endWaiting(reason: KillReason | "timed-out"): void {
    // If a supervisor is on its way, `runOn` gives it back.
    if (this.#deps.leaveQueue()) this.#setVacated();
    this.#finish(this.#endWithoutRun(reason, undefined));
  }

  /** What is left of the time limit now that the command runs. */
  #remainingMs(): number | undefined {
    const { timeoutMs, countsWaiting } = this.#spec;
    if (timeoutMs === undefined || countsWaiting !== true) return timeoutMs;
    return Math.max(1, timeoutMs - (this.#deps.clock.monotonic() - this.#startedAt));
  }

  #finish(end: CommandEnd, outputs: readonly CommandOutput[] = []): void {
    if (this.#result !== undefined) return;
    this.#hungTimer?.[Symbol.dispose]();
    this.#waitTimer?.[Symbol.dispose]();
    this.#result = end;
    this.#survivors = end.survivors;
    this.#status = "ended";
    for (const [index, stream] of this.#streams().entries()) stream.finish(outputs[index] ?? noOutput());
    for (const resolve of this.#outputRequests.values()) resolve(outputs);
    this.#outputRequests.clear();
    this.#started.resolve();
    this.#end.resolve(end);
    this.#deps.onEnded();
  }

  #streams(): CommandStream[] {
    return this.#stderr === undefined ? [this.#stdout] : [this.#stdout, this.#stderr];
  }

  async #askForOutputs(): Promise<readonly CommandOutput[]> {
    const supervisor = this.#supervisor;
    if (this.#result !== undefined || supervisor === undefined) return [];
    const requestId = ++this.#requestCount;
    return await new Promise((resolve) => {
      this.#outputRequests.set(requestId, resolve);
      if (supervisor.send({ type: "read-output", commandId: this.commandId, requestId })) return;
      this.#outputRequests.delete(requestId);
      resolve([]);
    });
  }

  #setVacated(): void {
    this.#hungTimer?.[Symbol.dispose]();
    this.#hasVacated = true;
    this.#vacated.resolve();
  }

  #endWithoutRun(reason: CommandEnd["reason"], spawnError: string | undefined): CommandEnd {
    return {
      reason,
      exitCode: null,
      signal: null,
      durationMs: Math.round(this.#deps.clock.monotonic() - this.#startedAt),
      survivors: [],
      leftovers: [],
      logIncompleteAt: undefined,
      spawnError,
    };
  }

  /** A supervisor that does not answer in time is given up; the guardian takes over. */
  #watchForHang(expectedMs: number): void {
    this.#hungTimer?.[Symbol.dispose]();
    this.#hungTimer = this.#deps.clock.setTimer(expectedMs + HUNG_MS, () => this.#supervisor?.destroy());
  }
}

/** What {@link SupervisedRun} answers when the runner is closing. */
export function closingError(): TriviumError {
  return new TriviumError("unavailable", "the command runner is closing; no new commands");
}

function toEnd(message: EndedMessage): CommandEnd {
  const { reason, exitCode, signal, durationMs, spawnError, streams } = message;
  const toNote = ({ pid, commandLine, why }: ReportedProcess) => ({ pid, commandLine, why });
  return {
    reason,
    exitCode,
    signal,
    durationMs,
    survivors: message.survivors.map(toNote),
    leftovers: message.leftovers.map(toNote),
    logIncompleteAt: streams[0]?.logIncompleteAt,
    spawnError,
  };
}
