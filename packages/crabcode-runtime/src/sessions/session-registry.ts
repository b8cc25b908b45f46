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
import { eventLogName } from "../store/event-log-name.ts";
import { IndexedTranscript } from "../store/indexed-transcript.ts";
import type { OperationStore } from "../store/operation-store.ts";
import type { SessionIndex } from "../store/session-index.ts";
import type { SessionRemoval } from "../store/session-removal.ts";
import type { NewSession, SessionRecord } from "../store/session-store.ts";
import { noTranscript, TranscriptFile } from "../store/transcript.ts";
import { readBranch } from "./read-branch.ts";
import { Session } from "./session.ts";
import type { SessionEnvironment } from "./session-deps.ts";
import { assertSessionId, isSessionId } from "./session-id.ts";
import type { SessionSelector } from "./session-selector.ts";

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
  readonly index: SessionIndex;
  readonly removal: SessionRemoval;
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
    const isValid = isSessionId(sessionId);
    if (create) assertSessionId(sessionId);
    const existing = isValid ? await this.find(sessionId, onFound) : undefined;
    if (existing !== undefined) {
      if (create && cwd !== undefined) await assertSameFolder(existing, cwd);
      return existing;
    }
    if (!create) throw new CrabcodeError("SESSION_NOT_FOUND", "no session has that id");
    const folder = await this.chooseFolder(cwd, "crabcode-cwd");
    for (let wait = this.#emptied(sessionId); wait !== undefined; wait = this.#emptied(sessionId)) await wait;
    this.assertOpen();
    onFound(sessionId);
    const session = await this.#load(
      sessionId,
      () => this.#deps.environment.store.find(sessionId) ?? this.#insert(sessionId, folder),
    );
    if (cwd !== undefined) await assertSameFolder(session, cwd);
    return session;
  }

  /** A loaded or stored session; undefined when there is none with that id. */
  async find(sessionId: string, onFound: OnFound = () => {}): Promise<Session | undefined> {
    for (let wait = this.#left(sessionId); wait !== undefined; wait = this.#left(sessionId)) await wait;
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

  /** A session that is in memory, also while it is closing. Nothing is loaded. */
  peek(sessionId: string): Session | undefined {
    return this.#loaded.get(sessionId);
  }

  /** As {@link SessionRegistry.peek}, when what is being loaded or closed right now has come to its end. */
  async settled(sessionId: string): Promise<Session | undefined> {
    for (let wait = this.#left(sessionId); wait !== undefined; wait = this.#left(sessionId)) await wait;
    // Whoever loads it hears why it could not be loaded.
    return await this.#sessions.get(sessionId)?.catch(() => undefined);
  }

  isDefault(sessionId: string): boolean {
    return sessionId === this.#defaultSessionId;
  }

  /** The id of the default session, which is made when there is none, and not loaded. */
  defaultSessionId(): string {
    const { environment, workspaceRoots } = this.#deps;
    const known = this.#defaultSessionId;
    if (known !== undefined && environment.store.find(known) !== undefined) return known;
    const [cwd] = workspaceRoots;
    if (cwd === undefined) throw new CrabcodeError("SESSION_NOT_FOUND", "no workspace root is configured");
    const sessionId = environment.ids.uuid();
    this.#defaultSessionId = sessionId;
    environment.store.defaultSessionId = sessionId;
    this.#insert(sessionId, cwd);
    return sessionId;
  }

  /**
   * Makes a session of a new id and loads it. Nothing of it is left when it cannot be loaded.
   *
   * @param insert writes its row and what belongs to that
   * @throws CrabcodeError SESSION_EXISTS
   */
  async create({ sessionId, cwd }: NewSession, insert: () => void): Promise<Session> {
    const { environment, removal } = this.#deps;
    for (let wait = this.#emptied(sessionId); wait !== undefined; wait = this.#emptied(sessionId)) await wait;
    this.assertOpen();
    this.assertUnused(sessionId);
    insert();
    const record = environment.store.find(sessionId);
    if (record === undefined) throw new Error("the row of a new session was not written");
    try {
      return await this.#load(sessionId, () => record);
    } catch (thrown) {
      await this.exclusively(sessionId, () => removal.remove({ sessionId, cwd }));
      throw thrown;
    }
  }

  /** @throws CrabcodeError SESSION_EXISTS */
  assertUnused(sessionId: string): void {
    if (this.#deps.environment.store.find(sessionId) === undefined) return;
    throw new CrabcodeError("SESSION_EXISTS", "a session has that id already", { sessionId });
  }

  /**
   * Does something with a session that is not in memory, and keeps it from being loaded meanwhile. Undefined, and nothing
   * is done, when it is in memory, comes into it or is held so already: what {@link SessionRegistry.settled} said may be
   * over when its caller hears of it.
   */
  exclusively<Result>(sessionId: string, job: () => Promise<Result>): Promise<Result> | undefined {
    if (this.#sessions.has(sessionId) || this.#closing.has(sessionId)) return undefined;
    const done = job();
    const settled = done.then(
      () => {},
      () => {},
    );
    this.#closing.set(sessionId, settled);
    void settled.then(() => this.#closing.delete(sessionId));
    return done;
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
    await Promise.allSettled([...this.#sessions.values(), ...this.#closing.values()]);
    return this.loaded;
  }

  get isClosing(): boolean {
    return this.#isClosing;
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

  /** Resolves when the session may be in memory no more. Undefined when it is neither being unloaded nor held. */
  #left(sessionId: string): Promise<void> | undefined {
    // Whoever unloads it hears what went wrong with that.
    return this.#closing.get(sessionId)?.catch(() => {});
  }

  /** What a new session of that id has to wait for: the end of an earlier one. Undefined when nothing is left of that. */
  #emptied(sessionId: string): Promise<void> | undefined {
    const { removal } = this.#deps;
    return this.#left(sessionId) ?? (removal.isPending(sessionId) ? removal.finish(sessionId) : undefined);
  }

  async #default(onFound: OnFound): Promise<Session> {
    const session = await this.find(this.defaultSessionId(), onFound);
    if (session === undefined) throw new CrabcodeError("SESSION_NOT_FOUND", "there is no default session");
    return session;
  }

  #insert(sessionId: string, cwd: string): SessionRecord {
    const { store, clock } = this.#deps.environment;
    store.insert({ sessionId, cwd, createdAtMs: clock.now(), gitBranch: readBranch(cwd) });
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
    const { environment, eventLogs, settings: sources, dataDir, operationsOf, agentsOf, index } = this.#deps;
    const { clock, ids, store } = environment;
    const logger = environment.logger.child({ sessionId });
    const settings = readSettings(sources, cwd, logger);
    // Closes what was opened when the rest fails.
    await using opened = new AsyncDisposableStack();
    const log = await eventLogs.open(eventLogName(sessionId));
    const bus = new SessionEventBus({ sessionId, log, clock, logger });
    opened.defer(() => bus.close());
    const transcripts = dataDir === undefined ? undefined : join(dataDir, "transcripts");
    const file =
      transcripts === undefined ? undefined : new TranscriptFile(join(transcripts, `${sessionId}.jsonl`));
    const records = (await file?.read(logger)) ?? [];
    const entries = records.flatMap((record) => (record.kind === "message" ? [record.entry] : []));
    if (file !== undefined) index.reconcile(sessionId, entries);
    const transcript = new IndexedTranscript({
      sessionId,
      transcript: file ?? noTranscript,
      index,
      count: entries.length,
      logger,
    });
    const conversation = new Conversation({ records, transcript, clock, ids });
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
    store.setLastModelProfile(sessionId, session.modelProfile);
    await session.recover();
    for (const callback of this.#onLoad) callback(session);
    this.#loaded.set(sessionId, session);
    opened.move();
    return session;
  }

  /**
   * The folder of a session to be made, symbolic links resolved.
   *
   * @param field what the caller calls `cwd`
   * @throws CrabcodeError FIELD_INVALID, CWD_FORBIDDEN
   */
  async chooseFolder(cwd: string | undefined, field: string): Promise<string> {
    const { workspaceRoots } = this.#deps;
    const [first] = workspaceRoots;
    if (cwd === undefined && first !== undefined) return first;
    if (cwd === undefined || !isAbsolute(cwd)) throw invalidFolder("cwd must be an absolute path", field);
    const folder = await existingFolder(cwd);
    if (folder === undefined) throw invalidFolder("cwd must be an existing folder", field);
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

function invalidFolder(message: string, field: string): CrabcodeError {
  return new CrabcodeError("FIELD_INVALID", message, { field });
}
