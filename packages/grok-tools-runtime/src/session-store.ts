import { TriviumError } from "@trivium/core";
import type { RuntimePorts } from "./runtime-ports.ts";
import { sessionFolder } from "./state/session-folder.ts";
import { ToolSession } from "./tool-session.ts";

/** How long the id of an expired session is answered with "expired". */
const EXPIRED_MEMORY_MS = 10 * 60_000;
const MAX_KEY_LENGTH = 128;
const MAX_SESSIONS = 10_000;

type Entry = {
  readonly session: ToolSession;
  /** Kept open by an owner in this process. */
  readonly isOwned: boolean;
  lastUsedMs: number;
  timer: Disposable | undefined;
};

/** The sessions of a runtime by the id their callers choose; without one, the default session. */
export class SessionStore implements AsyncDisposable {
  readonly #ports: RuntimePorts;
  readonly #entries = new Map<string | undefined, Entry>();
  readonly #expiredAtMs = new Map<string, number>();
  readonly #folders = new Map<string, ToolSession>();
  /** Ends of sessions that nobody finds any more: they write until then. */
  readonly #closing = new Set<Promise<void>>();
  #isClosed = false;

  constructor(ports: RuntimePorts) {
    this.#ports = ports;
  }

  /**
   * The session of an id, opened on first use. `purpose` finalize opens an expired id anew.
   *
   * @throws {@link TriviumError} `invalidInput` for an empty or too long id, `unavailable` for an expired one and while
   * the runtime closes, `resourceExhausted` when there are too many sessions.
   */
  session(key: string | undefined, purpose: "finalize" | "use" = "use"): ToolSession {
    this.#assertOpen();
    if (key !== undefined) this.#checkKey(key, purpose);
    const known = this.#entries.get(key);
    if (known === undefined) return this.#open(key, false);
    this.#touch(known);
    return known.session;
  }

  /**
   * A new session that stays until its owner disposes it.
   *
   * @throws {@link TriviumError} `alreadyExists` when the id is in use.
   */
  ownedSession(key: string): ToolSession {
    this.#assertOpen();
    this.#checkKey(key, "finalize");
    if (this.#entries.has(key))
      throw new TriviumError("alreadyExists", `the tool session ${key} exists already`);
    return this.#open(key, true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const sessions = [...this.#entries.values()].map(({ session }) => session);
    await Promise.all(sessions.map((session) => session.close("the server is shutting down")));
    await Promise.all(this.#closing);
  }

  #open(key: string | undefined, isOwned: boolean): ToolSession {
    if (this.#entries.size >= MAX_SESSIONS) {
      throw new TriviumError("resourceExhausted", `there are ${MAX_SESSIONS} tool sessions already`);
    }
    const session = new ToolSession(this.#ports, key, {
      claimFolder: (folderKey, claimant) => this.#claimFolder(folderKey, claimant),
      closing: (closing) => {
        this.#forget(key);
        // Whoever closes a session hears of its failure.
        const closed: Promise<void> = closing
          .close()
          .catch(() => {})
          .finally(() => this.#closing.delete(closed));
        this.#closing.add(closed);
      },
      used: () => {
        entry.lastUsedMs = this.#ports.clock.monotonic();
      },
    });
    const entry: Entry = { session, isOwned, lastUsedMs: 0, timer: undefined };
    this.#entries.set(key, entry);
    this.#touch(entry);
    return session;
  }

  #touch(entry: Entry): void {
    const { clock } = this.#ports;
    entry.lastUsedMs = clock.monotonic();
    if (entry.isOwned || entry.session.key === undefined) return;
    entry.timer ??= clock.setTimer(this.#idleMs, () => this.#expireIfIdle(entry));
  }

  get #idleMs(): number {
    return this.#ports.settings.sessionIdleMinutes * 60_000;
  }

  #expireIfIdle(entry: Entry): void {
    const { clock, logger } = this.#ports;
    const { session } = entry;
    const { key } = session;
    if (key === undefined) return;
    if (session.isBusy) entry.lastUsedMs = clock.monotonic();
    const remainingMs = entry.lastUsedMs + this.#idleMs - clock.monotonic();
    if (remainingMs > 0) {
      entry.timer = clock.setTimer(remainingMs, () => this.#expireIfIdle(entry));
      return;
    }
    this.#expiredAtMs.set(key, clock.monotonic());
    logger.info({ sessionKey: key }, "a tool session expired");
    session.close(expiredMessage(key)).catch((cause: unknown) => {
      logger.error({ sessionKey: key, cause }, "an expired tool session did not close cleanly");
    });
  }

  #forget(key: string | undefined): void {
    this.#entries.get(key)?.timer?.[Symbol.dispose]();
    this.#entries.delete(key);
  }

  #checkKey(key: string, purpose: "finalize" | "use"): void {
    if (key === "" || key.length > MAX_KEY_LENGTH) {
      throw new TriviumError("invalidInput", `a session id has 1 to ${MAX_KEY_LENGTH} characters`);
    }
    const nowMs = this.#ports.clock.monotonic();
    for (const [expired, atMs] of this.#expiredAtMs) {
      if (nowMs - atMs < EXPIRED_MEMORY_MS) break;
      this.#expiredAtMs.delete(expired);
    }
    if (!this.#expiredAtMs.has(key)) return;
    if (purpose === "use") throw new TriviumError("unavailable", expiredMessage(key));
    this.#expiredAtMs.delete(key);
  }

  /**
   * Two live sessions must not write one folder: the default session may be given the id of a named one. One that is
   * closing has it until it is closed.
   */
  async #claimFolder(folderKey: string, session: ToolSession): Promise<Disposable> {
    const folder = sessionFolder(this.#ports.dataDir, folderKey);
    for (let holder = this.#folders.get(folder); holder !== undefined; holder = this.#folders.get(folder)) {
      if (holder.status !== "closed") {
        throw new TriviumError(
          "failedPrecondition",
          `the session id ${folderKey} is in use by another session`,
        );
      }
      await holder.close();
    }
    this.#folders.set(folder, session);
    return { [Symbol.dispose]: () => void this.#folders.delete(folder) };
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new TriviumError("unavailable", "the server is shutting down");
  }
}

function expiredMessage(key: string): string {
  return `the tool session ${key} has expired; finalize it again to go on with its saved state`;
}
