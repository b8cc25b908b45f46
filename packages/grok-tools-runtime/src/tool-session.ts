import { linkSignals, TriviumError } from "@trivium/core";
import { withOpenDefaults } from "./controls/open-defaults.ts";
import { SessionControls } from "./controls/session-controls.ts";
import { type CallOptions, checkCallOptions } from "./execute/call-options.ts";
import { fingerprintOf } from "./execute/fingerprint.ts";
import { runCall } from "./execute/run-call.ts";
import type { ToolAnswer } from "./execute/tool-answer.ts";
import { type FinalizeResult, finalizeToolset } from "./finalize/finalize-toolset.ts";
import type { ToolConfig } from "./finalize/tool-config.ts";
import { type FinalizedToolset, snapshotState } from "./finalized-toolset.ts";
import type { JsonObject } from "./json.ts";
import type { ChoiceAsker } from "./questions/choice-asker.ts";
import { type PendingQuestions, pendingQuestions } from "./questions/pending-questions.ts";
import type { RuntimePorts } from "./runtime-ports.ts";
import type { SubagentControl } from "./subagents/subagents.ts";
import type { ToolCard } from "./tool-card.ts";
import { type CardSource, findCard, listCards } from "./tool-listing.ts";

/** Longest time a snapshot waits for running calls. */
const SNAPSHOT_WAIT_MS = 30_000;
/** Time that running calls have to end when the session closes. */
const CLOSE_GRACE_MS = 1_500;

/** What finalize tells its caller. */
export interface FinalizeReport extends Omit<FinalizeResult, "toolset"> {
  /** In the order of the configuration. */
  readonly tools: readonly ToolCard[];
  readonly sessionId: string;
}

/** What finalize takes besides the tools. */
export interface FinalizeOptions {
  /** Folder of the session, absolute or relative to the workspace. Default: the workspace. */
  readonly cwd?: string | undefined;
  /** Asks people about choices. Default: questions wait in the session's own list. */
  readonly choiceAsker?: ChoiceAsker | undefined;
}

/** What a session needs from where it is kept. */
export interface SessionHost {
  /** Reserves the private folder of an id until it is disposed. @throws when another open session has it. */
  claimFolder(folderKey: string, session: ToolSession): Promise<Disposable>;
  /** A call has ended. */
  used(session: ToolSession): void;
  /** The session is about to close: nobody may find it any more. Its `close` tells when it has closed. */
  closing(session: ToolSession): void;
}

/**
 * One set of tools with its state: open until it is finalized, then usable until it is closed.
 *
 * Every method throws {@link TriviumError} `unavailable` once it is closed.
 */
export class ToolSession implements AsyncDisposable {
  /** The id callers choose the session by; undefined for the default session. */
  readonly key: string | undefined;
  /** Settings apart from finalize. */
  readonly controls: SessionControls;
  readonly #ports: RuntimePorts;
  readonly #controller = new AbortController();
  readonly #callIds = new Set<string>();
  readonly #host: SessionHost;
  #finalizing: Promise<unknown> = Promise.resolve();
  #toolset: FinalizedToolset | undefined;
  #folderClaim: Disposable | undefined;
  #closing: Promise<void> | undefined;
  #closeReason = "the session is closed";
  #callCount = 0;
  /** Asks people what its tools ask. */
  #choiceAsker: ChoiceAsker | undefined;

  /** @internal Sessions are made by the runtime. */
  constructor(ports: RuntimePorts, key: string | undefined, host: SessionHost) {
    this.#ports = ports;
    this.key = key;
    this.#host = host;
    this.controls = new SessionControls(ports, () => {
      this.#assertOpen();
      return this.#toolset;
    });
  }

  get status(): "open" | "finalized" | "closed" {
    if (this.#closing !== undefined) return "closed";
    return this.#toolset === undefined ? "open" : "finalized";
  }

  /** Whether a call runs or background work goes on. */
  get isBusy(): boolean {
    return this.#callCount > 0 || this.#toolset?.resources.isBusy() === true;
  }

  /**
   * Locks the tools of the session. A refused configuration changes nothing.
   *
   * @throws {@link FinalizeConfigError} with all violations of a phase; {@link TriviumError} `failedPrecondition` when
   * the session is finalized already, `invalidInput` for its folder.
   */
  finalize(config: ToolConfig, options: FinalizeOptions = {}): Promise<FinalizeReport> {
    const result = this.#finalizing.then(() => this.#finalize(config, options));
    this.#finalizing = result.catch(() => {});
    return result;
  }

  /**
   * Runs a tool by its client name. `input` is an object or its JSON text, with the names the caller uses.
   *
   * Failures that a model can react to are part of the answer.
   *
   * @throws {@link TriviumError} `failedPrecondition` before finalize, `invalidInput` for unusable options,
   * `alreadyExists` when a call with the same id runs; the reason of `options.signal` when it aborts.
   */
  async execute(
    toolName: string,
    input: JsonObject | string,
    options: CallOptions = {},
  ): Promise<ToolAnswer> {
    const toolset = this.#finalized();
    checkCallOptions(options);
    options.signal?.throwIfAborted();
    const callId = options.callId || this.#ports.ids.timeOrderedUuid();
    const run = (signal: AbortSignal | undefined): Promise<ToolAnswer> =>
      this.#run(toolset, {
        callId,
        toolName,
        input,
        options: { choiceAsker: this.#choiceAsker, ...options, signal },
      });
    const { idempotencyKey } = options;
    if (idempotencyKey === undefined) return await run(options.signal);
    return await toolset.repeatedCalls.answer({
      key: idempotencyKey,
      fingerprint: fingerprintOf(toolName, input, options),
      callId,
      signal: options.signal,
      run,
    });
  }

  /** All tools: of the server while the session is open, else those configured, with their client names. */
  listTools(): ToolCard[] {
    this.#assertOpen();
    return listCards(this.#cardSource(this.#toolset));
  }

  /**
   * One tool: by client name or id once finalized, before that by id or by a canonical name that only one tool has.
   *
   * @throws {@link TriviumError} `notFound`, or `invalidInput` for an ambiguous name.
   */
  toolInfo(name: string): ToolCard {
    this.#assertOpen();
    return findCard(this.#cardSource(this.#toolset), name);
  }

  /**
   * Ends subagents as a whole, for a host in this process whose turns end early.
   *
   * @throws {@link TriviumError} `failedPrecondition` before finalize.
   */
  get subagents(): SubagentControl {
    return this.#finalized().subagents;
  }

  /**
   * Questions of running calls that wait for somebody's answer.
   *
   * @throws {@link TriviumError} `failedPrecondition` before finalize.
   */
  get questions(): PendingQuestions {
    return this.#finalized().resources.get(pendingQuestions);
  }

  /**
   * The state when no call runs: `{ params, state }`. Calls that come in meanwhile wait.
   *
   * @throws {@link TriviumError} `failedPrecondition` before finalize, `deadlineExceeded` when running calls do not
   * end within 30 seconds; the reason of `signal` when it aborts.
   */
  async state(signal?: AbortSignal): Promise<JsonObject> {
    const toolset = this.#finalized();
    const { clock } = this.#ports;
    using link = linkSignals([signal, this.#controller.signal], { timeoutMs: SNAPSHOT_WAIT_MS, clock });
    try {
      using _pass = await toolset.gate.enter("exclusive", link.signal);
      await toolset.stateFile.flush();
      return snapshotState(toolset);
    } catch (thrown) {
      if (signal?.aborted !== true && thrown instanceof DOMException && thrown.name === "TimeoutError") {
        const message = `calls still ran after ${SNAPSHOT_WAIT_MS} ms`;
        throw new TriviumError("deadlineExceeded", message, { cause: thrown });
      }
      throw thrown;
    }
  }

  /** Ends the session: calls are cancelled, background work is ended, the state is saved. Idempotent. */
  close(reason: string = this.#closeReason): Promise<void> {
    if (this.#closing === undefined) {
      this.#closeReason = reason;
      const closed = Promise.withResolvers<void>();
      this.#closing = closed.promise;
      this.#host.closing(this);
      closed.resolve(this.#close(reason));
    }
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #finalize(config: ToolConfig, { cwd, choiceAsker }: FinalizeOptions): Promise<FinalizeReport> {
    this.#assertOpen();
    if (this.#toolset !== undefined) {
      throw new TriviumError(
        "failedPrecondition",
        "FinalizeToolConfigRequest was already carried out in this session",
      );
    }
    const sessionId = config.sessionId || this.key || this.#ports.ids.timeOrderedUuid();
    const folderKey = this.key ?? sessionId;
    const claim = await this.#host.claimFolder(folderKey, this);
    try {
      const sessionSignal = this.#controller.signal;
      const open = this.controls.openDefaults;
      const complete = withOpenDefaults(config, open);
      const request = { config: complete, cwd, sessionId, folderKey, sessionSignal, session: this, open };
      const { toolset, ...told } = await finalizeToolset(this.#ports, request);
      this.#toolset = toolset;
      this.#choiceAsker = choiceAsker;
      this.#folderClaim = claim;
      return { ...told, tools: listCards(this.#cardSource(toolset)), sessionId };
    } catch (thrown) {
      claim[Symbol.dispose]();
      throw thrown;
    }
  }

  async #run(toolset: FinalizedToolset, call: Parameters<typeof runCall>[1]): Promise<ToolAnswer> {
    if (this.#callIds.has(call.callId)) {
      throw new TriviumError("alreadyExists", `a call with the id ${call.callId} is still running`);
    }
    this.#callIds.add(call.callId);
    this.#callCount++;
    try {
      return await runCall(toolset, call);
    } finally {
      this.#callIds.delete(call.callId);
      this.#callCount--;
      this.#host.used(this);
    }
  }

  async #close(reason: string): Promise<void> {
    this.#controller.abort(new TriviumError("unavailable", reason));
    await this.#finalizing;
    const toolset = this.#toolset;
    if (toolset === undefined) return;
    try {
      await this.#waitForCalls(toolset);
      await toolset.resources[Symbol.asyncDispose]();
      await toolset.stateFile.close(() => snapshotState(toolset));
    } finally {
      this.#folderClaim?.[Symbol.dispose]();
    }
  }

  async #waitForCalls({ gate }: FinalizedToolset): Promise<void> {
    using deadline = linkSignals([], { timeoutMs: CLOSE_GRACE_MS, clock: this.#ports.clock });
    try {
      using _pass = await gate.enter("exclusive", deadline.signal);
    } catch {
      // A call that does not end loses its resources under it; waiting longer would keep the server open.
      this.#ports.logger.warn({ sessionKey: this.key }, "a call did not end in time when its session closed");
    }
  }

  #cardSource(toolset: FinalizedToolset | undefined): CardSource {
    return { ports: this.#ports, toolset, open: this.controls.openDefaults };
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new TriviumError("unavailable", this.#closeReason);
  }

  #finalized(): FinalizedToolset {
    this.#assertOpen();
    if (this.#toolset === undefined) {
      throw new TriviumError(
        "failedPrecondition",
        "the session has no tools yet; call FinalizeToolConfigRequest first",
      );
    }
    return this.#toolset;
  }
}
