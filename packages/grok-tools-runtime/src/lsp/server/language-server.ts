import { abortable, abortReason, linkSignals, sleep, TriviumError } from "@trivium/core";
import { readableRoots } from "../../files/session-roots.ts";
import type { SessionScope } from "../../session-resource.ts";
import type { LspServerConfig } from "../config/lsp-server-config.ts";
import { readPublished } from "../diagnostics/diagnostic.ts";
import type { DiagnosticsInbox } from "../diagnostics/diagnostics-inbox.ts";
import { pathOfUri } from "../documents/file-uri.ts";
import type { LspFeature } from "./server-capabilities.ts";
import { ServerSession } from "./server-session.ts";
import { ServerWorkspace } from "./server-workspace.ts";

const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
/** A server that has worked for so long before it failed has not failed in a row. */
const STABLE_AFTER_MS = 60_000;
/** Edited files that are remembered for a server that does not run. */
const MAX_REMEMBERED = 256;

export interface LanguageServerDeps {
  readonly scope: SessionScope;
  readonly inbox: DiagnosticsInbox;
}

/** A question to a server. */
export interface LspQuestion {
  readonly feature: LspFeature;
  readonly method: string;
  readonly params: object;
  /** The file it is about. */
  readonly path?: string | undefined;
}

interface Running {
  readonly session: ServerSession;
  readonly workspace: ServerWorkspace;
  readonly sinceMs: number;
}

/** One configured server: started when it is needed, and again when it has failed. */
export class LanguageServer {
  readonly name: string;
  readonly config: LspServerConfig;
  readonly #deps: LanguageServerDeps;
  readonly #closing = new AbortController();
  #running: Running | undefined;
  #starting: Promise<Running> | undefined;
  /** Servers that were given up and are ending. */
  readonly #ending = new Set<Promise<void>>();
  /** Files it should know once it runs. */
  readonly #remembered = new Set<string>();
  #starts = 0;
  #failuresInRow = 0;
  #lastError: Error | undefined;

  constructor(name: string, config: LspServerConfig, deps: LanguageServerDeps) {
    this.name = name;
    this.config = config;
    this.#deps = deps;
  }

  /** A file was written or deleted. The server is told when it runs. */
  fileChanged(path: string): void {
    this.#deps.inbox.expect(this.name, path);
    if (this.#running !== undefined) void this.#running.workspace.update([path]);
    else this.#remember(path);
  }

  /** Starts it in the background to learn what it says of edited files, unless it has failed before. */
  startForEdits(): void {
    if (this.#remembered.size === 0 || this.#running !== undefined || this.#starting !== undefined) return;
    if (this.#lastError === undefined) void this.#start().catch(() => {});
    else this.#deps.inbox.forget(this.name);
  }

  /**
   * Asks the server, which is started if need be and knows the files it has open and the given one as they are now.
   *
   * @throws ResponseError for its error; {@link TriviumError} `unavailable` when it has failed and the next call starts
   * it again, `failedPrecondition` when it cannot be started, `unimplemented` when it does not answer such questions;
   * the reason of `signal`.
   */
  async ask({ feature, method, params, path }: LspQuestion, signal: AbortSignal): Promise<unknown> {
    const { session, workspace } = this.#running ?? (await abortable(this.#start(), signal));
    if (!session.capabilities.offers(feature)) {
      throw new TriviumError("unimplemented", `the language server ${this.name} has no ${method}`);
    }
    await abortable(
      workspace.update(path === undefined ? workspace.paths : [...workspace.paths, path]),
      signal,
    );
    try {
      return await session.request(method, params, signal);
    } catch (thrown) {
      // The error then says which server it was, and whether it comes again.
      if (session.lost.aborted && !signal.aborted && this.#lastError !== undefined) throw this.#lastError;
      throw thrown;
    }
  }

  /** Ends it and whatever waits for it. */
  async close(): Promise<void> {
    this.#closing.abort(new TriviumError("unavailable", `the language server ${this.name} is being closed`));
    await this.#starting?.catch(() => {
      // It was only waited for.
    });
    if (this.#running !== undefined) this.#giveUp(this.#running);
    await Promise.all(this.#ending);
  }

  #start(): Promise<Running> {
    this.#starting ??= this.#startUntilReady().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #startUntilReady(backoffFirst: boolean = false): Promise<Running> {
    if (backoffFirst) await this.#backOff();
    for (;;) {
      if (this.#failuresInRow > this.config.maxRestarts) throw this.#exhausted();
      try {
        return await this.#startOnce();
      } catch (thrown) {
        if (this.#closing.signal.aborted) throw abortReason(this.#closing.signal);
        const error = this.#failed(thrown);
        if (!this.#restartsItself(error)) throw error;
      }
      await this.#backOff();
    }
  }

  async #startOnce(): Promise<Running> {
    const { scope, inbox } = this.#deps;
    const { startupTimeoutMs: timeoutMs } = this.config;
    using link = linkSignals([this.#closing.signal], { timeoutMs, clock: scope.clock });
    if (link.signal.aborted) throw abortReason(link.signal);
    scope.notify({ type: "LspServerStarting", server_name: this.name, command: this.config.command });
    try {
      const session = await ServerSession.open(this.config, {
        scope,
        signal: link.signal,
        onNotification: (method, params) => this.#heard(method, params),
        onRefresh: () => this.#running?.workspace.pullAll(),
      });
      this.#starts += 1;
      const { name, config } = this;
      const roots = readableRoots(scope);
      const workspace = new ServerWorkspace(session, { name, config, inbox, roots, logger: scope.logger });
      const running = { session, workspace, sinceMs: scope.clock.monotonic() };
      this.#running = running;
      this.#lastError = undefined;
      scope.notify({ type: "LspServerReady", server_name: this.name });
      this.#watch(running);
      void workspace.update([...this.#remembered]);
      this.#remembered.clear();
      return running;
    } catch (cause) {
      if (!isMissingProgram(cause)) this.#starts += 1;
      if (!link.signal.aborted || this.#closing.signal.aborted) throw cause;
      throw new TriviumError("unavailable", `it was not ready within ${timeoutMs} ms`, { cause });
    }
  }

  /** Notes a failure. The error is for whoever waits for the server. */
  #failed(thrown: unknown): Error {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    const isMissing = isMissingProgram(thrown);
    // What cannot be started does no harm when it is tried again.
    if (!isMissing) this.#failuresInRow += 1;
    const isFinal = isMissing || this.#failuresInRow > this.config.maxRestarts;
    const kind = isFinal ? "failedPrecondition" : "unavailable";
    const error = new TriviumError(kind, `the language server ${this.name} cannot be used: ${reason}`, {
      cause: thrown,
    });
    this.#lastError = error;
    if (!this.#restartsItself(error)) this.#tellFailure(error);
    return error;
  }

  #restartsItself(error: Error): boolean {
    return this.config.restartOnCrash && TriviumError.isInstance(error) && error.kind === "unavailable";
  }

  #exhausted(): TriviumError {
    const message = this.#lastError?.message ?? `the language server ${this.name} cannot be used`;
    return new TriviumError("failedPrecondition", `${message}; it was started ${this.#starts} times`);
  }

  #tellFailure({ message }: Error): void {
    const { scope, inbox } = this.#deps;
    scope.logger.warn({ server: this.name, message }, "a language server cannot be used");
    inbox.forget(this.name);
    scope.notify({ type: "LspServerFailed", server_name: this.name, error: message, attempts: this.#starts });
  }

  #watch(running: Running): void {
    const { lost } = running.session;
    const onLost = (): void => this.#lose(running, abortReason(lost).message);
    if (lost.aborted) onLost();
    else lost.addEventListener("abort", onLost, { once: true });
  }

  /** It has ended of its own accord. */
  #lose(running: Running, reason: string): void {
    if (this.#running !== running || this.#closing.signal.aborted) return;
    const { scope, inbox } = this.#deps;
    for (const path of running.workspace.paths) this.#remember(path);
    this.#giveUp(running);
    inbox.forget(this.name);
    scope.notify({ type: "LspServerCrashed", server_name: this.name });
    if (scope.clock.monotonic() - running.sinceMs >= STABLE_AFTER_MS) this.#failuresInRow = 0;
    const error = this.#failed(new TriviumError("unavailable", reason));
    if (!this.#restartsItself(error)) return;
    this.#starting = this.#startUntilReady(true).finally(() => {
      this.#starting = undefined;
    });
    this.#starting.catch(() => {
      // Whoever needs it next is told.
    });
  }

  async #backOff(): Promise<void> {
    const { scope } = this.#deps;
    const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** (this.#failuresInRow - 1), MAX_BACKOFF_MS);
    scope.notify({
      type: "LspServerRetrying",
      server_name: this.name,
      attempt: this.#failuresInRow,
      max_restarts: this.config.maxRestarts,
      backoff_ms: backoffMs,
    });
    await sleep(scope.clock, backoffMs, this.#closing.signal);
  }

  #giveUp(running: Running): void {
    if (this.#running === running) this.#running = undefined;
    const ending = running.session.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #remember(path: string): void {
    this.#remembered.delete(path);
    this.#remembered.add(path);
    const [oldest] = this.#remembered;
    if (this.#remembered.size > MAX_REMEMBERED && oldest !== undefined) this.#remembered.delete(oldest);
  }

  #heard(method: string, params: unknown): void {
    if (method !== "textDocument/publishDiagnostics") return;
    const published = readPublished(params);
    if (published === undefined) return;
    const path = pathOfUri(published.uri);
    const version = this.#running?.workspace.versionOf(path);
    // Of a text that was replaced meanwhile.
    if (published.version !== undefined && version !== undefined && published.version < version) return;
    this.#deps.inbox.put({ server: this.name, kind: "push" }, path, published.diagnostics);
  }
}

function isMissingProgram(thrown: unknown): boolean {
  return TriviumError.isInstance(thrown) && thrown.kind === "notFound";
}
