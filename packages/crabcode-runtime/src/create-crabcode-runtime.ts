import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { type Clock, type IdSource, randomIds, silentLogger, systemClock, TriviumError } from "@trivium/core";
import { AgentCalls } from "./agents/agent-calls.ts";
import type {
  AcceptedAgentInput,
  AgentInput,
  AgentListing,
  AgentReference,
  AgentSnapshot,
  CancelledAgent,
  SpawnAgentInput,
  SpawnedAgent,
  WaitAgentInput,
} from "./agents/agent-types.ts";
import type { CheckpointCalls } from "./checkpoints/checkpoint.ts";
import { RuntimeCheckpointCalls } from "./checkpoints/checkpoint-calls.ts";
import { openCheckpoints } from "./checkpoints/open-checkpoints.ts";
import { removeExpired } from "./checkpoints/session-checkpoints.ts";
import { CrabcodeError } from "./crabcode-error.ts";
import type {
  ChoiceAnswer,
  CrabcodeRuntime,
  CrabcodeRuntimeOptions,
  InterruptResult,
  MessagePlace,
  MessageStream,
  ModelListing,
  PermissionAnswer,
  SendMessageInput,
  SubscribeInput,
  Subscription,
} from "./crabcode-runtime.ts";
import { SessionCalls } from "./session-calls/session-calls.ts";
import type { CrabcodeQuestions, CrabcodeSessions } from "./session-calls/session-types.ts";
import { Admissions } from "./sessions/admissions.ts";
import type { Session } from "./sessions/session.ts";
import type { SessionEnvironment } from "./sessions/session-deps.ts";
import { openSessionGate, type SessionGate } from "./sessions/session-gate.ts";
import { SessionRegistry } from "./sessions/session-registry.ts";
import type { SessionReference } from "./sessions/session-selector.ts";
import { Subscriptions, shuttingDown } from "./sessions/subscriptions.ts";
import { AgentStore } from "./store/agent-store.ts";
import { CreateRequests } from "./store/create-requests.ts";
import { openDataFolder } from "./store/data-folder.ts";
import { indexMissing } from "./store/index-missing.ts";
import { MessageSearch } from "./store/message-search.ts";
import { OperationStore } from "./store/operation-store.ts";
import { SessionIndex } from "./store/session-index.ts";
import { type OnSessionRemoved, SessionRemoval } from "./store/session-removal.ts";
import { SessionStore } from "./store/session-store.ts";

const DEFAULT_MAX_QUEUED_MESSAGES = 8;
const DEFAULT_REJOIN_GRACE_MS = 30_000;
const DEFAULT_RETENTION = { maxEvents: 100_000, maxBytes: 64 * 1024 * 1024, maxAgeMs: 7 * 86_400_000 };
const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_FEEDBACK_CHARS = 4000;
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,128}$/;

/**
 * Makes a runtime. It owns the data folder until it is closed.
 *
 * @throws TriviumError `failedPrecondition` when another process holds the folder, `invalidInput` when a
 * workspace root is no folder
 */
export function createCrabcodeRuntime(options: CrabcodeRuntimeOptions): CrabcodeRuntime {
  return new Runtime(options);
}

class Runtime implements CrabcodeRuntime {
  readonly checkpoints: CheckpointCalls;
  readonly #database: DatabaseSync;
  readonly #registry: SessionRegistry;
  readonly #subscriptions: Subscriptions;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #admissions: Admissions;
  readonly #agents: AgentCalls;
  readonly #sessions: SessionCalls;
  /** What an earlier process left is being tidied up: deleted sessions, old snapshots, messages no search finds. */
  readonly #tidied: Promise<void>;
  #closed: Promise<void> | undefined;

  constructor(options: CrabcodeRuntimeOptions) {
    const { clock = systemClock, ids = randomIds, logger = silentLogger, version = "0.0.0" } = options;
    this.#clock = clock;
    this.#ids = ids;
    this.#admissions = new Admissions(ids);
    const workspaceRoots = options.workspaceRoots.map(realRoot);
    if (workspaceRoots.length === 0) throw new TriviumError("invalidInput", "there is no workspace root");
    const { dataDir } = options;
    const folder = dataDir === undefined ? undefined : join(dataDir, "crabcode");
    this.#database = openDataFolder(folder, logger);
    const database = this.#database;
    const onSessionDeleted: OnSessionRemoved[] = [];
    const checkpoints = openCheckpoints({
      database,
      run: options.runProgram,
      dataDir,
      onSessionDeleted,
      clock,
      ids,
      logger,
    });
    const environment: SessionEnvironment = {
      models: options.models,
      openToolbox: options.openToolbox,
      runProgram: options.runProgram,
      skills: options.skills,
      openMcp: options.openMcp,
      codeCells: options.codeCells,
      webSearch: options.webSearch,
      store: new SessionStore(database),
      onSessionDeleted,
      checkpoints,
      clock,
      ids,
      logger,
      version,
      userFolder: options.settings?.userFolder,
      homeFolder: options.settings?.homeFolder,
      maxQueuedMessages: options.maxQueuedMessages ?? DEFAULT_MAX_QUEUED_MESSAGES,
      rejoinGraceMs: options.rejoinGraceMs ?? DEFAULT_REJOIN_GRACE_MS,
      retention: { ...DEFAULT_RETENTION, ...options.eventRetention },
    };
    const { eventLogs, settings = {} } = options;
    const transcripts = folder === undefined ? undefined : join(folder, "transcripts");
    const search = new MessageSearch(database);
    const index = new SessionIndex(database, search);
    const onRemoved = environment.onSessionDeleted;
    const removal = new SessionRemoval({ database, search, eventLogs, transcripts, onRemoved, logger });
    this.#registry = new SessionRegistry({
      environment,
      eventLogs,
      settings,
      index,
      removal,
      workspaceRoots,
      dataDir: folder,
      resumesDefaultSession: options.resumesDefaultSession !== false,
      operationsOf: (sessionId) => new OperationStore(database, sessionId),
      agentsOf: (sessionId) => new AgentStore(database, sessionId),
    });
    const ownerOf = (agentId: string): string | undefined => AgentStore.ownerOf(database, agentId);
    this.#agents = new AgentCalls({ registry: this.#registry, ownerOf });
    this.#subscriptions = new Subscriptions({ registry: this.#registry, clock, version });
    this.#sessions = new SessionCalls({
      registry: this.#registry,
      environment,
      settings,
      database,
      index,
      requests: new CreateRequests(database),
      removal,
      eventLogs,
      transcripts,
      workspaceRoots,
      ownerOf,
      unload: (session) => this.#unload(session),
    });
    this.checkpoints = new RuntimeCheckpointCalls({
      registry: this.#registry,
      exists: (sessionId) => environment.store.find(sessionId) !== undefined,
      store: checkpoints.store,
      clock,
    });
    this.#tidied = removal
      .finishAll()
      .then(() => removeExpired(checkpoints, clock.now()))
      .then(() => indexMissing({ registry: this.#registry, index, transcripts, logger }))
      .catch((cause: unknown) => logger.error({ cause }, "what an earlier process left was not tidied up"));
  }

  get sessions(): CrabcodeSessions {
    return this.#sessions;
  }

  get questions(): CrabcodeQuestions {
    return this.#sessions.questions;
  }

  get isClosing(): boolean {
    return this.#closed !== undefined;
  }

  async sendMessage(input: SendMessageInput): Promise<MessageStream> {
    let place: (MessagePlace & Disposable) | undefined;
    try {
      const session = await this.#registry.resolve(input.session, (sessionId) => {
        place = this.#reserve(sessionId, input);
        input.onPlace?.(place);
      });
      assertMessage(input, session);
      return session.sendMessage(input, place?.operationId ?? this.#ids.hex(16));
    } finally {
      place?.[Symbol.dispose]();
    }
  }

  async subscribe(input: SubscribeInput): Promise<Subscription> {
    if (this.isClosing) throw shuttingDown();
    return this.#subscriptions.subscribe(input);
  }

  async respondPermission(answer: PermissionAnswer): Promise<SessionReference> {
    const session = await this.#sessionOf(answer);
    if ((answer.feedback?.length ?? 0) > MAX_FEEDBACK_CHARS) {
      throw new CrabcodeError("FIELD_INVALID", `feedback is longer than ${MAX_FEEDBACK_CHARS} characters`, {
        sessionId: session.sessionId,
        field: "crabcode-feedback",
      });
    }
    return attributed(session, () => session.answerPermission(wellFormed(answer)));
  }

  async respondChoice(answer: ChoiceAnswer): Promise<SessionReference> {
    const session = await this.#sessionOf(answer);
    return attributed(session, () => session.answerChoice(answer));
  }

  async listModels(sessionId: string): Promise<ModelListing> {
    return (await this.#resolve(sessionId)).listModels();
  }

  async switchModel(sessionId: string, profile: string): Promise<SessionReference> {
    const session = await this.#resolve(sessionId);
    await session.switchModel(profile);
    return { sessionId: session.sessionId };
  }

  async switchMode(sessionId: string, mode: string): Promise<SessionReference> {
    const session = await this.#resolve(sessionId);
    await session.switchMode(mode);
    return { sessionId: session.sessionId };
  }

  spawnAgent(input: SpawnAgentInput): Promise<SpawnedAgent> {
    return this.#agents.spawn(input);
  }

  getAgent(reference: AgentReference): Promise<AgentSnapshot> {
    return this.#agents.get(reference);
  }

  listAgents(sessionId: string): Promise<AgentListing> {
    return this.#agents.list(sessionId);
  }

  cancelAgent(reference: AgentReference): Promise<CancelledAgent> {
    return this.#agents.cancel(reference);
  }

  waitAgent(input: WaitAgentInput): Promise<AgentSnapshot> {
    return this.#agents.wait(input);
  }

  sendAgentInput(input: AgentInput): Promise<AcceptedAgentInput> {
    return this.#agents.input(input);
  }

  async interruptTurn(sessionId: string): Promise<InterruptResult> {
    return (await this.#resolve(sessionId)).interruptTurn();
  }

  openGate(sessionId: string): Promise<SessionGate> {
    return openSessionGate(this.#registry, sessionId);
  }

  async closeSession(sessionId: string): Promise<void> {
    await this.#unload(await this.#resolve(sessionId));
  }

  close({ drainMs = 0 }: { readonly drainMs?: number } = {}): Promise<void> {
    this.#closed ??= this.#close(drainMs);
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(drainMs: number): Promise<void> {
    // From the last to the first; one that fails keeps none of the others from being done.
    await using cleanUp = new AsyncDisposableStack();
    cleanUp.defer(() => this.#database.close());
    cleanUp.defer(() => this.#tidied);
    const sessions = await this.#registry.beginClosing();
    cleanUp.defer(async () => {
      const unloads = await Promise.allSettled(sessions.map((session) => this.#unload(session)));
      const failures = unloads.flatMap((unload) => (unload.status === "rejected" ? [unload.reason] : []));
      if (failures.length > 0) throw new AggregateError(failures, "not every session could be closed");
    });
    cleanUp.defer(() => this.#subscriptions.finishAll(shuttingDown()));
    // What fails here fails again with the unloading, which reports it.
    await Promise.allSettled(sessions.map((session) => session.close(drainMs)));
  }

  #reserve(sessionId: string, { idempotencyKey }: SendMessageInput): MessagePlace & Disposable {
    const operations = new OperationStore(this.#database, sessionId);
    return this.#admissions.reserve(operations, { sessionId, idempotencyKey, nowMs: this.#clock.now() });
  }

  #unload(session: Session): Promise<void> {
    return this.#registry.unload(session, () => this.#subscriptions.finish(session.sessionId));
  }

  /** The session an answer is for; an agent says which when the answer does not. */
  #sessionOf({ sessionId, agentId = "" }: PermissionAnswer | ChoiceAnswer): Promise<Session> {
    return agentId === "" ? this.#resolve(sessionId) : this.#agents.sessionOf(sessionId, agentId);
  }

  #resolve(sessionId: string): Promise<Session> {
    return this.#registry.resolve({ sessionId });
  }
}

function wellFormed(answer: PermissionAnswer): PermissionAnswer {
  const { feedback } = answer;
  return feedback === undefined ? answer : { ...answer, feedback: feedback.toWellFormed() };
}

/** Runs a call of a session; what it refuses names the session. */
function attributed({ sessionId }: Session, call: () => void): SessionReference {
  try {
    call();
    return { sessionId };
  } catch (thrown) {
    if (!CrabcodeError.isInstance(thrown) || thrown.sessionId !== undefined) throw thrown;
    const { reason, message, field } = thrown;
    throw new CrabcodeError(reason, message, {
      sessionId,
      cause: thrown,
      ...(field !== undefined && { field }),
    });
  }
}

function assertMessage(input: SendMessageInput, { sessionId }: Session): void {
  const { text, maxTurns = 0, idempotencyKey } = input;
  if (text.trim() === "") throw new CrabcodeError("EMPTY_TEXT", "text is blank", { sessionId });
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) {
    throw new CrabcodeError("TOO_LARGE", "text is larger than 1 MiB", { sessionId });
  }
  if (!Number.isInteger(maxTurns) || maxTurns < 0) {
    throw new CrabcodeError("FIELD_INVALID", "max_turns must be 0 or more", {
      sessionId,
      field: "max_turns",
    });
  }
  if (idempotencyKey !== undefined && !IDEMPOTENCY_KEY.test(idempotencyKey)) {
    throw new CrabcodeError(
      "IDEMPOTENCY_KEY_INVALID",
      "an idempotency key has 1 to 128 printable ASCII characters",
      { sessionId },
    );
  }
}

function realRoot(root: string): string {
  try {
    return realpathSync(root);
  } catch (cause) {
    throw new TriviumError("invalidInput", `workspace root ${root} is not an existing folder`, { cause });
  }
}
