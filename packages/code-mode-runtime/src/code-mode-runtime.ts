import { type Clock, type IdSource, type Logger, TriviumError } from "@trivium/core";
import type { CellEngine } from "./engine/cell-engine.ts";
import { type CodeModeLimits, defaultCodeModeLimits } from "./limits.ts";
import { CodeModeSession } from "./session.ts";
import type { SessionOptions } from "./session-types.ts";

/** What a runtime is made of. It does not own the engine. */
export interface CodeModeRuntimeDeps {
  readonly engine: CellEngine;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** Changes to the default limits. */
  readonly limits?: Partial<CodeModeLimits>;
  /**
   * True: an unbounded session whose output fits in no message gets the head and the tail of it instead of
   * `outOfRange`. Default false, as the original host.
   */
  readonly keepOversizedOutput?: boolean;
}

/** Counts for metrics. */
export interface CodeModeStats {
  readonly sessions: number;
  /** Running cells and those whose result nobody has claimed. */
  readonly openCells: number;
  /** Notifications too large for a message, since the start. */
  readonly droppedNotifications: number;
}

/** The sessions of one host. */
export interface CodeModeRuntime extends AsyncDisposable {
  readonly limits: CodeModeLimits;
  /**
   * Opens a session. Its owner iterates `events`; leaving that loop closes the session.
   *
   * @throws {@link TriviumError} `unavailable` when the runtime is shutting down.
   */
  openSession(options: SessionOptions): CodeModeSession;
  /** A session that takes requests. Ids are lower-case UUIDs with dashes. */
  session(sessionId: string): CodeModeSession | undefined;
  stats(): CodeModeStats;
  /** Ends every session with `unavailable`; resolves when their cells are gone. New sessions are refused. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Sessions and cells over an engine. */
export function createCodeModeRuntime(deps: CodeModeRuntimeDeps): CodeModeRuntime {
  const limits = { ...defaultCodeModeLimits, ...deps.limits };
  const sessions = new Map<string, CodeModeSession>();
  const closing = new Set<Promise<void>>();
  let openCells = 0;
  let droppedNotifications = 0;
  let isOpen = true;

  const sessionDeps = {
    engine: deps.engine,
    clock: deps.clock,
    ids: deps.ids,
    logger: deps.logger,
    limits,
    keepOversizedOutput: deps.keepOversizedOutput ?? false,
    admitCell(): void {
      if (openCells >= limits.maxCells) {
        throw new TriviumError("resourceExhausted", `too many cells: this host runs ${limits.maxCells}`);
      }
      openCells++;
    },
    releaseCell(): void {
      openCells--;
    },
    notificationDropped(): void {
      droppedNotifications++;
    },
    onClosed(session: CodeModeSession, gone: Promise<void>): void {
      sessions.delete(session.sessionId);
      closing.add(gone);
      void gone.finally(() => closing.delete(gone));
    },
  };

  return {
    limits,
    openSession(options) {
      if (!isOpen) throw shuttingDown();
      const session = new CodeModeSession(sessionDeps, options);
      sessions.set(session.sessionId, session);
      return session;
    },
    session: (sessionId) => sessions.get(sessionId),
    stats: () => ({ sessions: sessions.size, openCells, droppedNotifications }),
    async [Symbol.asyncDispose]() {
      isOpen = false;
      const closed = [...sessions.values()].map((session) => session.close(shuttingDown()));
      await Promise.all([...closed, ...closing]);
    },
  };
}

function shuttingDown(): TriviumError {
  return new TriviumError("unavailable", "the code-mode host is shutting down");
}
