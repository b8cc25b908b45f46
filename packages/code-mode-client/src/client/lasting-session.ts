import type { Transport } from "@connectrpc/connect";
import { abortable } from "@trivium/core";
import { CodeModeSession } from "../code-mode-session.ts";
import { followCell } from "../follow-cell.ts";
import type { CellAnswer, CellItem, CellOutcome } from "../outcome.ts";
import { SessionClosedError } from "../session-closed-error.ts";
import type {
  CellNotification,
  ExecuteOptions,
  OpenSessionOptions,
  TerminateOptions,
  WaitOptions,
} from "../session-options.ts";
import type { CodeModeDelegate } from "./delegate.ts";
import { Generation } from "./generation.ts";
import { StaleGenerationError } from "./stale-generation-error.ts";

/** How the sessions behind a {@link LastingSession} are opened. */
export type LastingSessionOptions = Omit<
  OpenSessionOptions,
  "onNotification" | "onCellClosed" | "onCallbackError" | "onToolCall" | "signal"
>;

/** A program that the host has admitted. */
export interface StartedCell {
  readonly cellId: string;
  /** The first outcome. Aborting the signal of the execute before it comes ends the cell. */
  readonly initialResponse: Promise<CellOutcome>;
}

interface Binding {
  readonly generation: Generation;
  readonly session: CodeModeSession;
}

/**
 * A session by name only: when its host session is lost, the next operation opens another one. Cells and stored values
 * do not survive that, and cells of a lost generation are refused.
 *
 * The cells of the first generation have the host's ids, those of the n-th `g<n>:<id>`. Every method throws
 * {@link SessionClosedError} after {@link LastingSession.shutdown}.
 */
export class LastingSession implements AsyncDisposable {
  readonly #transport: Transport;
  readonly #delegate: CodeModeDelegate;
  readonly #options: LastingSessionOptions;
  readonly #lifetime = new AbortController();
  #attempts = 0;
  #binding: Binding | undefined;
  #opening: Promise<Binding> | undefined;
  #shutdown: Promise<void> | undefined;

  constructor(transport: Transport, delegate: CodeModeDelegate, options: LastingSessionOptions) {
    this.#transport = transport;
    this.#delegate = delegate;
    this.#options = options;
  }

  /** True after {@link LastingSession.shutdown}, and while there is no host session. */
  get isOver(): boolean {
    return this.#shutdown !== undefined || (this.#binding?.session.isOver ?? true);
  }

  /**
   * Starts a program. Resolves when the host has admitted it.
   *
   * @throws as {@link CodeModeSession.execute}, and what opening a session throws.
   */
  async execute(source: string, options: ExecuteOptions = {}): Promise<StartedCell> {
    const { session, generation } = await this.#current(options.signal);
    const started = Promise.withResolvers<string>();
    const onStarted = (hostCellId: string): void => {
      const cellId = generation.expose(hostCellId);
      options.onStarted?.(cellId);
      started.resolve(cellId);
    };
    const initialResponse = session
      .execute(source, { ...options, onStarted })
      .then((outcome) => exposeOutcome(outcome, generation));
    // Whoever waits for the first outcome hears of its failure; others may look at the cell in another way.
    initialResponse.catch(() => {});
    const cellId = await Promise.race([started.promise, initialResponse.then((outcome) => outcome.cellId)]);
    return { cellId, initialResponse };
  }

  /**
   * Runs one program to its end, yielding each outcome on the way. Leaving the loop early terminates the cell.
   *
   * @throws as {@link LastingSession.execute} and {@link LastingSession.wait}.
   */
  async *run(source: string, options: ExecuteOptions = {}): AsyncGenerator<CellOutcome, void> {
    const { initialResponse } = await this.execute(source, options);
    const followed = {
      isOver: false,
      wait: (cellId: string, wait: WaitOptions) => this.wait(cellId, wait),
      terminate: (cellId: string) => this.#terminateKnown(cellId),
    };
    yield* followCell(followed, await initialResponse, options);
  }

  /**
   * Looks at a cell until it completes, yields, or the time is over.
   *
   * @throws {@link StaleGenerationError} for a cell of a lost session, {@link CellBusyError} while another look is in
   * progress; otherwise as {@link CodeModeSession.wait}.
   */
  wait(cellId: string, options: WaitOptions = {}): Promise<CellAnswer> {
    return this.#ask(cellId, options, (session, hostCellId) => session.wait(hostCellId, options));
  }

  /**
   * Ends a cell by force, or takes the result of one that has completed.
   *
   * @throws {@link StaleGenerationError} for a cell of a lost session; otherwise as {@link CodeModeSession.terminate}.
   */
  terminate(cellId: string, options: TerminateOptions = {}): Promise<CellAnswer> {
    return this.#ask(cellId, options, (session, hostCellId) => session.terminate(hostCellId, options));
  }

  /**
   * Ends the look at a cell that is in progress with what there is; the cell runs on.
   *
   * @throws {@link StaleGenerationError} for a cell of a lost session.
   */
  async yieldObservation(cellId: string, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { session, generation } = await this.#currentOf(cellId, options.signal);
    await session.yieldObservation(generation.strip(cellId), options);
  }

  /** Ends the session, also one that is being opened. Never fails, and does nothing more when repeated. */
  shutdown(): Promise<void> {
    this.#shutdown ??= this.#close();
    return this.#shutdown;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  /** Leaves alone what a lost session has ended: there is nothing to ask another for. */
  async #terminateKnown(cellId: string): Promise<void> {
    if (this.isOver) return;
    await this.terminate(cellId).catch((thrown: unknown) => {
      if (!StaleGenerationError.isInstance(thrown)) throw thrown;
    });
  }

  /** The live host session, for one of its cells. Cells of lost ones are refused before another is opened for them. */
  async #currentOf(cellId: string, signal: AbortSignal | undefined): Promise<Binding> {
    const isLive = this.#opening !== undefined || this.#binding?.session.isOver === false;
    if (this.#shutdown === undefined && !isLive) new Generation(this.#attempts + 1).strip(cellId);
    return await this.#current(signal);
  }

  async #ask(
    cellId: string,
    options: { readonly signal?: AbortSignal },
    ask: (session: CodeModeSession, hostCellId: string) => Promise<CellAnswer>,
  ): Promise<CellAnswer> {
    const { session, generation } = await this.#currentOf(cellId, options.signal);
    const hostCellId = generation.strip(cellId);
    const { state, outcome } = await ask(session, hostCellId);
    const exposed = exposeOutcome(outcome, generation);
    return { state, outcome: state === "missing" ? renamed(exposed, hostCellId, cellId) : exposed };
  }

  /**
   * The live host session, opened if there is none. One opening at a time serves all who ask; whoever stops to wait for
   * it leaves it to the others.
   */
  async #current(signal: AbortSignal | undefined): Promise<Binding> {
    if (this.#shutdown !== undefined) throw shutDown();
    if (this.#binding?.session.isOver === false) return this.#binding;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return await (signal === undefined ? this.#opening : abortable(this.#opening, signal));
  }

  async #open(): Promise<Binding> {
    const generation = new Generation(++this.#attempts);
    await this.#binding?.session.close();
    const delegate = this.#delegate;
    const { signal } = this.#lifetime;
    const session = await CodeModeSession.open(this.#transport, {
      ...this.#options,
      signal,
      onToolCall: (call, context) =>
        delegate.invokeTool(call, { ...context, cellId: generation.expose(context.cellId) }),
      ...(delegate.notify !== undefined && {
        onNotification: (notification: CellNotification, interest: AbortSignal) =>
          delegate.notify?.({ ...notification, cellId: generation.expose(notification.cellId) }, interest),
      }),
      onCellClosed: (cellId) => delegate.cellClosed?.(generation.expose(cellId)),
      onCallbackError: (error) => delegate.failed?.(error),
    });
    this.#binding = { generation, session };
    if (!signal.aborted) return this.#binding;
    await session.close();
    throw shutDown();
  }

  async #close(): Promise<void> {
    this.#lifetime.abort(shutDown());
    // Its failure is told to those who asked for the session.
    await this.#opening?.catch(() => {});
    await this.#binding?.session.close();
  }
}

function shutDown(): SessionClosedError {
  return new SessionClosedError("the session was shut down");
}

function exposeOutcome(outcome: CellOutcome, generation: Generation): CellOutcome {
  return { ...outcome, cellId: generation.expose(outcome.cellId) };
}

/** A host says of a missing cell which one it means; that is to be the name that the caller knows. */
function renamed(outcome: CellOutcome, hostCellId: string, cellId: string): CellOutcome {
  const rename = (text: string): string =>
    text.replace(`exec cell ${hostCellId} `, () => `exec cell ${cellId} `);
  const { errorText } = outcome;
  return {
    ...outcome,
    items: outcome.items.map(
      (item): CellItem => (item.type === "text" ? { ...item, text: rename(item.text) } : item),
    ),
    ...(errorText !== undefined && { errorText: rename(errorText) }),
  };
}
