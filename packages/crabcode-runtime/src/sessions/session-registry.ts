import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { EventLogStore } from "@trivium/core";
import { Conversation } from "../conversation/conversation.ts";
import { CrabcodeError } from "../crabcode-error.ts";
import type { SettingsSources } from "../crabcode-runtime.ts";
import { SessionEventBus } from "../events/session-event-bus.ts";
import { isInside } from "../paths/is-inside.ts";
import { readSettings } from "../settings/read-settings.ts";
import type { AgentStore } from "../store/agent-store.ts";
import type { OperationStore } from "../store/operation-store.ts";
import type { SessionRecord } from "../store/session-store.ts";
import { noTranscript, TranscriptFile } from "../store/transcript.ts";
import { Session } from "./session.ts";
import type { SessionEnvironment } from "./session-deps.ts";
import type { SessionSelector } from "./session-selector.ts";

const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

type OnFound = (sessionId: string) => void;

/** What a registry is made of. */
export interface SessionRegistryDeps {
  readonly environment: SessionEnvironment;
  readonly eventLogs: EventLogStore;
  readonly settings: SettingsSources;
  /** Absolute, symbolic links resolved. */
  readonly workspaceRoots: readonly string[];
  /** Absent: transcripts are kept in memory only. */
  readonly dataDir: string | undefined;
  readonly resumesDefaultSession: boolean;
  readonly operationsOf: (sessionId: string) => OperationStore;
  readonly agentsOf: (sessionId: string) => AgentStore;
}

/** Finds, makes, loads and unloads sessions. Two calls for one id get the same session. */
export class SessionRegistry {
  readonly #deps: SessionRegistryDeps;
  readonly #sessions = new Map<string, Promise<Session>>();
  readonly #loaded = new Map<string, Session>();
  readonly #closing = new Map<string, Promise<void>>();
  readonly #onLoad = new Set<(session: Session) => void>();
  #defaultSessionId: string | undefined;
  #isClosing = false;

  constructor(deps: SessionRegistryDeps) {
    this.#deps = deps;
    if (deps.resumesDefaultSession) this.#defaultSessionId = deps.environment.store.defaultSessionId;
  }

  get loaded(): Session[] {
    return [...this.#loaded.values()];
  }

  /** Calls back for every session that is loaded from now on. */
  onLoad(callback: (session: Session) => void): Disposable {
    this.#onLoad.add(callback);
    return { [Symbol.dispose]: () => this.#onLoad.delete(callback) };
  }

  /**
   * @param onFound hears the id as soon as the session is known to exist, before it is loaded
   * @throws CrabcodeError SESSION_NOT_FOUND, SESSION_ID_INVALID, CWD_MISMATCH, CWD_FORBIDDEN, SHUTTING_DOWN
   */
  async resolve(selector: SessionSelector, onFound: OnFound = () => {}): Promise<Session> {
    const { sessionId, create = false, cwd } = selector;
    this.assertOpen();
    if (sessionId === "") return this.#default(onFound);
    const isValid = SESSION_ID.test(sessionId);
    if (create && !isValid) {
      throw new CrabcodeError(
        "SESSION_ID_INVALID",
        "a session id has 1 to 128 letters, digits, dots, dashes or underscores and begins with a letter or digit",
      );
    }
    const existing = isValid ? await this.find(sessionId, onFound) : undefined;
    if (existing !== undefined) {
      if (create && cwd !== undefined) await assertSameFolder(existing, cwd);
      return existing;
    }
    if (!create) throw new CrabcodeError("SESSION_NOT_FOUND", "no session has that id");
    const folder = await this.#chooseFolder(cwd);
    onFound(sessionId);
    const session = await this.#load(sessionId, () => this.#insert(sessionId, folder));
    if (cwd !== undefined) await assertSameFolder(session, cwd);
    return session;
  }

  /** A loaded or stored session; undefined when there is none with that id. */
  async find(sessionId: string, onFound: OnFound = () => {}): Promise<Session | undefined> {
    await this.#closing.get(sessionId);
    this.assertOpen();
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) {
      onFound(sessionId);
      const session = await known;
      if (session.isClosing) throw new CrabcodeError("SHUTTING_DOWN", "the session is closing", session);
      return session;
    }
    const record = this.#deps.environment.store.find(sessionId);
    if (record === undefined) return undefined;
    onFound(sessionId);
    return this.#load(sessionId, () => record);
  }

  /** Unloads a session; it stays stored. `finishReaders` ends what still reads its events. */
  async unload(session: Session, finishReaders: () => Promise<void>): Promise<void> {
    const { sessionId } = session;
    const closing = this.#closing.get(sessionId) ?? this.#unload(session, finishReaders);
    this.#closing.set(sessionId, closing);
    await closing;
  }

  /** Refuses new calls; gives what is loaded once nothing is being loaded any more. */
  async beginClosing(): Promise<Session[]> {
    this.#isClosing = true;
    await Promise.allSettled(this.#sessions.values());
    return this.loaded;
  }

  /** @throws CrabcodeError SHUTTING_DOWN */
  assertOpen(): void {
    if (this.#isClosing) throw new CrabcodeError("SHUTTING_DOWN", "the server is shutting down");
  }

  async #unload(session: Session, finishReaders: () => Promise<void>): Promise<void> {
    const { sessionId } = session;
    // From the last to the first; one that fails keeps none of the others from being done.
    await using cleanUp = new AsyncDisposableStack();
    cleanUp.defer(() => {
      this.#sessions.delete(sessionId);
      this.#loaded.delete(sessionId);
      this.#closing.delete(sessionId);
    });
    cleanUp.defer(() => session.parts.bus.close());
    cleanUp.defer(finishReaders);
    cleanUp.defer(() => session.close());
  }

  async #default(onFound: OnFound): Promise<Session> {
    const { environment, workspaceRoots } = this.#deps;
    const knownId = this.#defaultSessionId;
    const known = knownId === undefined ? undefined : await this.find(knownId, onFound);
    if (known !== undefined) return known;
    // Another first call may have made it meanwhile.
    if (this.#defaultSessionId !== undefined && this.#defaultSessionId !== knownId)
      return this.#default(onFound);
    const sessionId = environment.ids.uuid();
    const [cwd] = workspaceRoots;
    if (cwd === undefined) throw new CrabcodeError("SESSION_NOT_FOUND", "no workspace root is configured");
    // Set before anything is awaited, so that two first calls get one session.
    this.#defaultSessionId = sessionId;
    environment.store.defaultSessionId = sessionId;
    onFound(sessionId);
    return this.#load(sessionId, () => this.#insert(sessionId, cwd));
  }

  #insert(sessionId: string, cwd: string): SessionRecord {
    const { store, clock } = this.#deps.environment;
    store.insert({ sessionId, cwd, createdAtMs: clock.now() });
    return { sessionId, cwd, title: "", modelProfile: undefined, createdAtMs: clock.now() };
  }

  #load(sessionId: string, record: () => SessionRecord): Promise<Session> {
    const loading = this.#sessions.get(sessionId) ?? this.#open(record());
    this.#sessions.set(sessionId, loading);
    // A session that cannot be opened may be tried again; its callers have the reason.
    loading.catch(() => this.#sessions.delete(sessionId));
    return loading;
  }

  async #open({ sessionId, cwd, modelProfile }: SessionRecord): Promise<Session> {
    const { environment, eventLogs, settings: sources, dataDir, operationsOf, agentsOf } = this.#deps;
    const { clock, ids, store } = environment;
    const logger = environment.logger.child({ sessionId });
    const settings = readSettings(sources, cwd, logger);
    // Closes what was opened when the rest fails.
    await using opened = new AsyncDisposableStack();
    const log = await eventLogs.open(`crabcode-${sessionId}`);
    const bus = new SessionEventBus({ sessionId, log, clock, logger });
    opened.defer(() => bus.close());
    const transcripts = dataDir === undefined ? undefined : join(dataDir, "transcripts");
    const file =
      transcripts === undefined ? undefined : new TranscriptFile(join(transcripts, `${sessionId}.jsonl`));
    const entries = (await file?.read(logger)) ?? [];
    const transcript = file ?? noTranscript;
    const conversation = new Conversation({ entries, transcript, clock, ids });
    const operations = operationsOf(sessionId);
    const agents = agentsOf(sessionId);
    store.touch(sessionId);
    const parts = {
      sessionId,
      cwd,
      settings,
      bus,
      conversation,
      operations,
      agents,
      transcripts,
      modelProfile,
    };
    const session = new Session({ ...environment, logger }, parts);
    opened.defer(() => session.close());
    await session.recover();
    for (const callback of this.#onLoad) callback(session);
    this.#loaded.set(sessionId, session);
    opened.move();
    return session;
  }

  async #chooseFolder(cwd: string | undefined): Promise<string> {
    const { workspaceRoots } = this.#deps;
    const [first] = workspaceRoots;
    if (cwd === undefined && first !== undefined) return first;
    if (cwd === undefined || !isAbsolute(cwd)) throw invalidFolder("cwd must be an absolute path");
    const folder = await existingFolder(cwd);
    if (folder === undefined) throw invalidFolder("cwd must be an existing folder");
    if (!workspaceRoots.some((root) => isInside(root, folder)))
      throw new CrabcodeError("CWD_FORBIDDEN", "cwd must lie inside a workspace root");
    return folder;
  }
}

async function assertSameFolder(session: Session, cwd: string): Promise<void> {
  const folder = isAbsolute(cwd) ? await existingFolder(cwd) : undefined;
  if (folder !== session.parts.cwd) {
    throw new CrabcodeError("CWD_MISMATCH", "the session exists with another cwd", session);
  }
}

/** The folder with symbolic links resolved; undefined when there is none. */
async function existingFolder(path: string): Promise<string | undefined> {
  try {
    const folder = await realpath(path);
    return (await stat(folder)).isDirectory() ? folder : undefined;
  } catch {
    // Whatever is in the way, this is no folder a session could work in.
    return undefined;
  }
}

function invalidFolder(message: string): CrabcodeError {
  return new CrabcodeError("FIELD_INVALID", message, { field: "crabcode-cwd" });
}
