import { abortReason, sleep } from "@trivium/core";
import type { ServerHeartbeatEvent, ServerSessionProperties } from "@trivium/proto/crabcode-events";
import type { AgentHost } from "../agents/agent-host.ts";
import { AgentManager } from "../agents/agent-manager.ts";
import type { Callbacks } from "../agents/callbacks.ts";
import { stopLostAgents } from "../agents/restore-agents.ts";
import { SessionCheckpoints } from "../checkpoints/session-checkpoints.ts";
import type { CodeCells } from "../code/code-cells.ts";
import { openCells } from "../code/open-cells.ts";
import { type CompactedSession, type CompactInput, compactSession } from "../compaction/compact-session.ts";
import { CrabcodeError } from "../crabcode-error.ts";
import type {
  ChoiceAnswer,
  InterruptResult,
  MessageStream,
  ModelListing,
  PermissionAnswer,
  SendMessageInput,
  StreamEvent,
} from "../crabcode-runtime.ts";
import type { Cursor } from "../events/cursor.ts";
import type { OutsideGate } from "../gates/outside-gate.ts";
import { PermissionPolicy } from "../gates/permission-policy.ts";
import type { QuestionRegistry } from "../gates/question-registry.ts";
import type { SessionMcp } from "../mcp/session-mcp.ts";
import type { ModelPort } from "../ports/model-port.ts";
import { SessionPrompt } from "../prompt/turn-prompt.ts";
import type { SessionSkills } from "../skills/session-skills.ts";
import { TitleWriter } from "../titles/title-writer.ts";
import type { SessionTools } from "../tools/session-tools.ts";
import { hashRequest } from "./message-stream.ts";
import { MessageStreams } from "./message-streams.ts";
import { openOutsideGate } from "./open-outside-gate.ts";
import { openQuestionRegistry } from "./open-question-registry.ts";
import { openMcp, openSkills, openTools } from "./open-tools.ts";
import { Operation, type OperationOptions } from "./operation.ts";
import { recoverOperations, type SessionRecovery } from "./recovery.ts";
import type { SessionEnvironment, SessionParts } from "./session-deps.ts";
import { SessionModel } from "./session-model.ts";
import { SessionToolbox } from "./session-toolbox.ts";
import { TurnQueue } from "./turn-queue.ts";
import { runTurn, scopeOf, type TurnHost } from "./turn-runner.ts";

/** One loaded conversation: its queue of messages, its questions, mode and model. */
export class Session implements TurnHost, AgentHost {
  readonly environment: SessionEnvironment;
  readonly parts: SessionParts;
  readonly policy: PermissionPolicy;
  readonly questions: QuestionRegistry;
  readonly outside: OutsideGate;
  readonly tools: SessionTools;
  readonly cells: CodeCells | undefined;
  readonly workspace: SessionToolbox;
  readonly agents: AgentManager;
  readonly checkpoints: SessionCheckpoints;
  readonly prompt: SessionPrompt;
  readonly skills: SessionSkills | undefined;
  /** The last event before this life of the session: what its recovery says comes after. */
  readonly loadedFrom: Cursor;
  readonly #queue: TurnQueue<Operation>;
  /** Messages that wait or run. */
  readonly #operations = new Map<string, Operation>();
  readonly #streams: MessageStreams;
  readonly #model: SessionModel;
  readonly #titles: TitleWriter;
  readonly #mcp: SessionMcp | undefined;
  /** The turn that will take in what agents hand over, until it begins. */
  #callbackTurn: Operation | undefined;
  #recovery: SessionRecovery = { isTurnRecovered: false, stoppedAgentCount: 0 };
  #isClosing = false;
  #closed: Promise<void> | undefined;

  constructor(environment: SessionEnvironment, parts: SessionParts) {
    const { sessionId, cwd, settings, bus } = parts;
    this.environment = environment;
    this.parts = parts;
    this.loadedFrom = { sessionId, epoch: bus.epoch, seq: bus.seq };
    this.policy = new PermissionPolicy(settings.permissions, cwd);
    this.questions = openQuestionRegistry(environment, parts);
    this.outside = openOutsideGate(this);
    this.#mcp = openMcp(environment, parts);
    this.prompt = new SessionPrompt({ ...environment, ...parts });
    this.checkpoints = new SessionCheckpoints(environment.checkpoints, {
      ...parts,
      activeAgentCount: () => this.agents.activeCount,
      toolbox: () => this.workspace.toolbox(),
    });
    const checkpoints = (): SessionCheckpoints => this.checkpoints;
    this.skills = openSkills(environment, parts);
    const others = [this.skills, this.#mcp].filter((changing) => changing !== undefined);
    this.tools = openTools(environment, parts, { agents: () => this.agents, checkpoints, others });
    this.cells = openCells(environment, parts, this.questions);
    this.workspace = new SessionToolbox(environment, parts, (mode) => this.#requestMode(mode));
    this.#model = new SessionModel(environment, parts);
    this.#queue = new TurnQueue({
      maxWaiting: environment.maxQueuedMessages,
      run: async (operation) => {
        if (operation === this.#callbackTurn) this.#callbackTurn = undefined;
        await runTurn(this, operation);
        this.#operations.delete(operation.operationId);
        if (operation.kind === "message") this.#titles.turnEnded();
      },
    });
    this.#streams = new MessageStreams({
      sessionId,
      bus,
      clock: environment.clock,
      heartbeat: () => this.heartbeat(),
      rootOf: (operationId) => this.agents.rootOf(operationId),
    });
    this.agents = new AgentManager({ host: this, store: parts.agents });
    this.#titles = new TitleWriter(this);
  }

  get sessionId(): string {
    return this.parts.sessionId;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get mode(): "agent" | "plan" {
    return this.policy.isPlanMode ? "plan" : "agent";
  }

  /** A turn runs or waits, or an agent does. */
  get isBusy(): boolean {
    return this.#queue.isBusy || this.agents.activeCount > 0;
  }

  get callbacks(): Callbacks {
    return this.agents.callbacks;
  }

  get modelProfile(): string {
    return this.#model.profile;
  }

  /** What `server.connected` says of the session. */
  get properties(): ServerSessionProperties {
    const { bus } = this.parts;
    return {
      epoch: bus.epoch,
      seq: bus.seq,
      model: this.#model.profile,
      mode: this.mode,
      busy: this.#queue.isBusy,
    };
  }

  /** What {@link Session.recover} found. */
  get recovery(): SessionRecovery {
    return this.#recovery;
  }

  /** Finishes what an earlier process left unfinished. Called once, before anything else. */
  async recover(): Promise<void> {
    const isTurnRecovered = this.parts.operations.unfinished().length > 0;
    const recovered = await recoverOperations(this);
    this.outside.settleLost();
    const stoppedAgentCount = this.agents.activeCount;
    await stopLostAgents(this, this.agents.all);
    this.#recovery = { isTurnRecovered, stoppedAgentCount };
    for (const { record, resumed } of recovered) {
      const operation = this.#createOperation({ ...record, resumed });
      if (resumed !== undefined) operation.afterSeq = record.afterSeq;
      if (record.kind === "callback") this.callbacks.resumeTurn(record.text);
      this.#enqueue(operation);
    }
    this.callbacks.resume();
  }

  isForeground(operationId: string): boolean {
    const { running } = this.#queue;
    return running?.operationId === operationId && scopeOf(running) === "foreground";
  }

  openProfile(profile: string): ModelPort {
    return this.#model.open(profile);
  }

  requestCallbackTurn(): void {
    if (this.#callbackTurn !== undefined) return;
    const operation = this.#createOperation({
      operationId: this.environment.ids.hex(16),
      kind: "callback",
      text: "",
      maxTurns: 0,
      isInteractive: true,
      idempotencyKey: undefined,
    });
    this.#callbackTurn = operation;
    this.#operations.set(operation.operationId, operation);
    this.#queue.addBackground(operation);
  }

  openModel(): ModelPort {
    return this.#model.active();
  }

  /**
   * Takes a message in, or joins an earlier one through its key. The input was checked already. A call that is over
   * by now is not admitted: nobody would own its turn.
   *
   * @param operationId id of the message when it is a new one
   */
  sendMessage(input: SendMessageInput, operationId: string): MessageStream {
    const { idempotencyKey, signal } = input;
    if (signal?.aborted === true) throw abortReason(signal);
    this.#assertOpen();
    const { operations } = this.parts;
    const { clock } = this.environment;
    const requestHash = hashRequest(input);
    const known =
      idempotencyKey === undefined ? undefined : operations.findByKey(idempotencyKey, clock.now());
    if (known !== undefined) {
      const operation = this.#operations.get(known.operationId);
      return this.#streams.join(known, { requestHash, input, operation });
    }
    if (this.#queue.isFull) {
      throw new CrabcodeError("QUEUE_FULL", "too many messages are waiting in this session", this);
    }
    const operation = this.#createOperation({
      operationId,
      text: input.text.toWellFormed(),
      maxTurns: input.maxTurns ?? 0,
      isInteractive: input.isInteractive !== false,
      idempotencyKey,
    });
    operations.admit({ ...operation.admission, requestHash }, clock.now());
    return this.#streams.begin(operation, input, () => this.#enqueue(operation));
  }

  answerPermission(answer: PermissionAnswer): void {
    this.#assertAgent(answer.agentId);
    this.questions.answerPermission(answer);
  }

  answerChoice(answer: ChoiceAnswer): void {
    this.#assertAgent(answer.agentId);
    this.questions.answerChoice(answer);
  }

  listModels(): ModelListing {
    return this.#model.listing();
  }

  async switchModel(profile: string): Promise<void> {
    this.#assertOpen();
    const event = this.#model.switchTo(profile);
    // Results may have waited for a model that can be used.
    this.callbacks.dispatch();
    await this.parts.bus.publishAndWait(event);
  }

  async switchMode(mode: string): Promise<void> {
    this.#assertOpen();
    if (mode !== "agent" && mode !== "plan") {
      throw new CrabcodeError("MODE_INVALID", "mode must be agent or plan", this);
    }
    if (mode === this.mode) return;
    this.policy.isPlanMode = mode === "plan";
    // Their programs have tools of the other mode.
    await this.cells?.endCells();
    await this.parts.bus.publishAndWait({ type: "mode_change", mode, reason: "client" });
  }

  /** Interrupts the running turn, or only that one, and waits for its end. */
  async interruptTurn(only?: string): Promise<InterruptResult> {
    const running = this.#queue.running;
    if (running === undefined || (only !== undefined && running.operationId !== only)) {
      return { sessionId: this.sessionId, isInterrupted: false, operationId: "" };
    }
    const { operationId } = running;
    running.interrupt();
    await running.ended;
    return { sessionId: this.sessionId, isInterrupted: true, operationId };
  }

  /**
   * Runs a job while no turn runs; it is refused when the session closes before it begins. The signal aborts when the
   * session closes meanwhile.
   */
  betweenTurns<Result>(job: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    return this.#queue.between(async (signal) => {
      this.#assertOpen();
      return await job(signal);
    });
  }

  /** Makes what the model is sent smaller, between turns. */
  compact(input: CompactInput): Promise<CompactedSession> {
    return compactSession(this, input);
  }

  heartbeat(): StreamEvent {
    const { epoch, seq, model } = this.properties;
    const event: ServerHeartbeatEvent = {
      type: "server.heartbeat",
      properties: { session_id: this.sessionId, epoch, seq, model },
    };
    return { type: event.type, payloadJson: JSON.stringify(event) };
  }

  /**
   * Interrupts, settles and releases everything but the event bus, which its readers may still need. A turn that runs
   * may finish within `graceMs` first.
   */
  close(graceMs = 0): Promise<void> {
    this.#isClosing = true;
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<void> {
    // From the last to the first; one that fails keeps none of the others from being done.
    await using cleanUp = new AsyncDisposableStack();
    cleanUp.defer(() => this.parts.conversation.close());
    cleanUp.use(this.workspace);
    cleanUp.use(this.#mcp);
    cleanUp.use(this.cells);
    cleanUp.use(this.#titles);
    cleanUp.defer(() => this.agents.close());
    cleanUp.defer(() => this.#queue.idle());
    cleanUp.defer(() => this.#queue.running?.interrupt());
    cleanUp.defer(() =>
      this.#queue.stopJob(new CrabcodeError("SHUTTING_DOWN", "the session is closing", this)),
    );
    cleanUp.use(this.outside);
    if (graceMs > 0) cleanUp.defer(() => this.#idleWithin(graceMs));
    for (const operation of this.#queue.clear()) {
      this.#operations.delete(operation.operationId);
      operation.finishStreams(new CrabcodeError("SHUTTING_DOWN", "the session is closing", this));
      // With a key it is started again when the session is loaded.
      if (operation.idempotencyKey !== undefined) continue;
      cleanUp.defer(() => this.parts.operations.forget(operation.operationId));
    }
  }

  async #idleWithin(graceMs: number): Promise<void> {
    const done = new AbortController();
    // The sleep rejects when it is not needed any more.
    const graceIsOver = sleep(this.environment.clock, graceMs, done.signal).catch(() => {});
    await Promise.race([Promise.all([this.#queue.idle(), this.agents.idle()]), graceIsOver]);
    done.abort();
  }

  /** A switch that a tool asked for; what widens rights waits for the client. */
  #requestMode(mode: "agent" | "plan"): boolean {
    const { autoApplyModes } = this.parts.settings;
    const isApplied = autoApplyModes === "all" || (autoApplyModes === "restrictive" && mode === "plan");
    if (isApplied) this.policy.isPlanMode = mode === "plan";
    if (isApplied) void this.cells?.endCells();
    return isApplied;
  }

  #createOperation(
    record: Pick<
      OperationOptions,
      "operationId" | "kind" | "text" | "maxTurns" | "isInteractive" | "idempotencyKey" | "resumed"
    >,
  ): Operation {
    const { clock, rejoinGraceMs } = this.environment;
    return new Operation({
      ...record,
      clock,
      rejoinGraceMs,
      onAbandoned: (operation) => this.#abandon(operation),
    });
  }

  #enqueue(operation: Operation): "started" | "waiting" {
    this.#operations.set(operation.operationId, operation);
    return this.#queue.add(operation);
  }

  #abandon(operation: Operation): void {
    if (!this.#queue.remove(operation)) {
      operation.interrupt();
      return;
    }
    this.#operations.delete(operation.operationId);
    this.parts.operations.forget(operation.operationId);
    operation.finishStreams();
  }

  #assertOpen(): void {
    if (this.#isClosing) throw new CrabcodeError("SHUTTING_DOWN", "the session is closing", this);
  }

  #assertAgent(agentId: string | undefined): void {
    this.#assertOpen();
    if (agentId !== undefined && agentId !== "") this.agents.get(agentId);
  }
}
