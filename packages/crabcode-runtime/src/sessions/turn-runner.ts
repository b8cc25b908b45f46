import { TriviumError } from "@trivium/core";
import type { TurnCompleteEvent, TurnCompleteReason } from "@trivium/proto/crabcode-events";
import type { Callbacks } from "../agents/callbacks.ts";
import type { CodeCells } from "../code/code-cells.ts";
import type { PermissionPolicy } from "../gates/permission-policy.ts";
import type { QuestionRegistry } from "../gates/question-registry.ts";
import { sessionHooks } from "../hooks/session-hooks.ts";
import type { ModelPort } from "../ports/model-port.ts";
import type { SessionPrompt, TurnPrompt } from "../prompt/turn-prompt.ts";
import type { SessionSkills } from "../skills/session-skills.ts";
import type { SessionTools } from "../tools/session-tools.ts";
import type { ToolSet } from "../tools/tool-set.ts";
import type { LoopDeps, LoopWorkspace } from "../turn/loop-deps.ts";
import { LoopEvents } from "../turn/loop-events.ts";
import { buriedNotification } from "../turn/next-message.ts";
import { runTurnLoop, type TurnOutcome } from "../turn/turn-loop.ts";
import { beginCallback, beginTurn } from "./begin-turn.ts";
import type { Operation } from "./operation.ts";
import type { RetentionLimits, SessionEnvironment, SessionParts } from "./session-deps.ts";
import { STOP_GRACE_MS } from "./stop-grace.ts";

/** What of a session a turn works with. */
export interface TurnHost {
  readonly environment: SessionEnvironment;
  readonly parts: SessionParts;
  readonly policy: PermissionPolicy;
  readonly questions: QuestionRegistry;
  readonly tools: SessionTools;
  readonly cells: CodeCells | undefined;
  readonly workspace: LoopWorkspace;
  readonly prompt: SessionPrompt;
  readonly skills: SessionSkills | undefined;
  readonly mode: "agent" | "plan";
  readonly modelProfile: string;
  readonly callbacks: Callbacks;
  /** @throws CrabcodeError when the active profile cannot be used */
  openModel(): ModelPort;
}

/**
 * Runs one message from its first event to its `turn_complete`. Never rejects: a fault of our own becomes an
 * event like any other failure, as long as events can be written at all.
 */
export async function runTurn(host: TurnHost, operation: Operation): Promise<void> {
  const { parts, environment } = host;
  const { operationId } = operation;
  const beginning = operation.kind === "callback" ? beginCallback(host, operation) : operation.text;
  if (beginning === undefined) return operation.finishStreams();
  const events = new LoopEvents(parts.bus, {
    agentId: null,
    context: {
      operationId,
      // Code cells may go on after the turn.
      get scope() {
        return operation.hasEnded ? ("background" as const) : scopeOf(operation);
      },
    },
  });
  try {
    if (operation.resumed === undefined) {
      operation.afterSeq = parts.bus.seq;
      parts.operations.start(operationId, { epoch: parts.bus.epoch, afterSeq: operation.afterSeq });
    }
    const outcome = await runOrReport(host, operation, { events, beginning });
    const isWell = ENDED_WELL.has(outcome.reason);
    await settleNotification(host, operation, isWell);
    const { epoch, seq } = parts.bus;
    host.cells?.leave({
      left: () => parts.operations.addLeftCells({ operationId, epoch, afterSeq: operation.afterSeq ?? seq }),
      ended: () => parts.operations.removeLeftCells(operationId),
    });
    await completeTurn(host, {
      operationId,
      event: turnComplete(outcome),
      scope: scopeOf(operation),
      onEnd: () => operation.end(),
    });
    operation.finishStreams();
    if (operation.kind === "message" && isWell) host.callbacks.turnEndedWell();
  } catch (cause) {
    if (operation.notificationId !== undefined) host.callbacks.failed(operation.notificationId);
    environment.logger.error(
      { sessionId: parts.sessionId, operationId, cause },
      "a turn could not be completed",
    );
    operation.finishStreams(new TriviumError("internal", "the turn could not be completed", { cause }));
    // What else could not be written belongs to this turn; the next one starts without it.
    await parts.bus.flush().catch(() => {});
  }
}

/** Nobody's call began a callback, or a turn that goes on after a restart. */
export function scopeOf({ resumed, kind }: Operation): "foreground" | "background" {
  return resumed === undefined && kind === "message" ? "foreground" : "background";
}

/** Ends after which the model has read everything and said what it wanted. */
const ENDED_WELL: ReadonlySet<TurnCompleteReason> = new Set([
  "end_turn",
  "max_turns_reached",
  "mode_switch_requested",
]);

/** Says before the end of the turn is published what became of the results it handed over. */
async function settleNotification(
  { parts, callbacks }: TurnHost,
  { notificationId }: Operation,
  isWell: boolean,
): Promise<void> {
  if (notificationId === undefined) return;
  const answerId = isWell ? parts.conversation.answerTo(notificationId) : undefined;
  if (answerId === undefined) return callbacks.failed(notificationId);
  await parts.bus.flush();
  await parts.conversation.sync();
  callbacks.answered(notificationId, answerId);
}

async function runOrReport(
  host: TurnHost,
  operation: Operation,
  { events, beginning }: { events: LoopEvents; beginning: string },
): Promise<FinishedTurn> {
  const { parts, environment } = host;
  const failedTurn = { reason: "error" as const, outcome: undefined, contextWindowTokens: 0 };
  await using _cells = host.cells?.endOn(operation.signal);
  try {
    if (operation.resumed === undefined) {
      const refusal = await beginTurn(host, operation, { events, beginning });
      if (refusal !== undefined) return { ...failedTurn, reason: refusal };
    }
    let model: ModelPort;
    try {
      model = host.openModel();
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : "the model profile cannot be used";
      events.error({ message: why, recoverable: false, error_type: "config" });
      return failedTurn;
    }
    const { maxTurns, signal } = operation;
    const tools = await host.tools.forRun(signal);
    const prompt = await host.prompt.forTurn({ mode: host.mode, model, tools }, signal);
    const outcome = await runTurnLoop(loopDeps(host, { operation, events, model, tools, prompt }), {
      maxTurns,
      signal,
    });
    return { reason: outcome.reason, outcome, contextWindowTokens: model.contextWindowTokens };
  } catch (cause) {
    environment.logger.error({ sessionId: parts.sessionId, cause }, "a turn failed");
    events.error({ message: "internal error", recoverable: false, error_type: "internal" });
    return failedTurn;
  }
}

/** A turn that lacks nothing but its last event. */
interface FinishedTurn {
  readonly reason: TurnCompleteReason;
  /** Undefined when it ended before the loop did. */
  readonly outcome: TurnOutcome | undefined;
  readonly contextWindowTokens: number;
}

/** The end of a turn as it is to be published. */
export interface Completion {
  readonly operationId: string;
  readonly event: TurnCompleteEvent;
  readonly scope: "foreground" | "background";
  /** Called right before the event is published: nothing interrupts the turn any more. */
  readonly onEnd: () => void;
}

/** Makes everything durable, then publishes the end of the turn, then removes events that are too old. */
export async function completeTurn(
  { parts, environment, questions }: Pick<TurnHost, "parts" | "environment" | "questions">,
  { operationId, event, scope, onEnd }: Completion,
): Promise<void> {
  const { bus, conversation, operations, sessionId, settings } = parts;
  await bus.flush();
  await conversation.sync();
  operations.ending(operationId, event);
  environment.store.setProgress(sessionId, {
    messageCount: conversation.entries.length,
    addedTokens: (event.usage.input_tokens ?? 0) + (event.usage.output_tokens ?? 0),
    nowMs: environment.clock.now(),
  });
  onEnd();
  const { seq } = await bus.publishAndWait(event, { operationId, scope });
  operations.end(operationId, { completeSeq: seq, nowMs: environment.clock.now() });
  const keepSeqs = [...questions.pendingSeqs, ...operations.completeSeqs(bus.epoch)];
  await bus.prune({ ...lowest(environment.retention, settings.eventLog), keepSeqs });
}

/** A session may only lower the limits of the server. */
function lowest(server: RetentionLimits, session: Partial<RetentionLimits>): RetentionLimits {
  return {
    maxEvents: Math.min(server.maxEvents, session.maxEvents ?? Infinity),
    maxBytes: Math.min(server.maxBytes, session.maxBytes ?? Infinity),
    maxAgeMs: Math.min(server.maxAgeMs, session.maxAgeMs ?? Infinity),
  };
}

function turnComplete({ reason, outcome, contextWindowTokens }: FinishedTurn): TurnCompleteEvent {
  const usedTokens = outcome?.contextTokens ?? 0;
  const { cachedInputTokens, reasoningTokens } = outcome?.usage ?? {};
  return {
    type: "turn_complete",
    reason,
    turn_count: outcome?.turnCount ?? 0,
    usage: {
      input_tokens: outcome?.usage.inputTokens ?? 0,
      output_tokens: outcome?.usage.outputTokens ?? 0,
      ...(cachedInputTokens !== undefined && { cached_input_tokens: cachedInputTokens }),
      ...(reasoningTokens !== undefined && { reasoning_tokens: reasoningTokens }),
    },
    context_used_tokens: usedTokens,
    context_window_tokens: contextWindowTokens,
    context_remaining_tokens: Math.max(0, contextWindowTokens - usedTokens),
    context_used_percent:
      contextWindowTokens === 0 ? 0 : Math.round((usedTokens / contextWindowTokens) * 1000) / 10,
  };
}

function loopDeps(
  host: TurnHost,
  {
    operation,
    events,
    model,
    tools,
    prompt,
  }: { operation: Operation; events: LoopEvents; model: ModelPort; tools: ToolSet; prompt: TurnPrompt },
): LoopDeps {
  const { parts, environment } = host;
  const { settings, sessionId, operations, conversation } = parts;
  const { operationId, notificationId } = operation;
  return {
    loop: { sessionId, agentNumber: null, profile: host.modelProfile },
    model,
    events,
    conversation: parts.conversation,
    operationId,
    ...prompt,
    tools,
    policy: host.policy,
    questions: host.cells?.questions ?? host.questions,
    cells: host.cells,
    workspace: host.workspace,
    hooks: sessionHooks(host, STOP_GRACE_MS),
    compaction: settings.compaction,
    journal: {
      callStarted: (toolUseId) => operations.callStarted(operationId, toolUseId),
      progress: (turnCount, usage) => operations.progress(operationId, turnCount, usage),
    },
    isInteractive: operation.isInteractive,
    stopGraceMs: STOP_GRACE_MS,
    replyTo: notificationId,
    reminder:
      notificationId === undefined || operation.resumed !== undefined
        ? undefined
        : buriedNotification(conversation, notificationId),
    resumed: operation.resumed,
    questionTimeoutMs: settings.permissions.requestTimeoutMs,
    toolCallTimeoutMs: settings.toolCallTimeoutMs,
    clock: environment.clock,
    ids: environment.ids,
    logger: environment.logger,
  };
}
