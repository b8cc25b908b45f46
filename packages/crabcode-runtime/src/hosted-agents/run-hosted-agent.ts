import type { Clock, IdSource, Logger } from "@trivium/core";
import { Conversation } from "../conversation/conversation.ts";
import type { Message } from "../conversation/message.ts";
import { CrabcodeError } from "../crabcode-error.ts";
import { SessionEventBus } from "../events/session-event-bus.ts";
import { PermissionPolicy } from "../gates/permission-policy.ts";
import { QuestionRegistry } from "../gates/question-registry.ts";
import { noHooks } from "../hooks/session-hooks.ts";
import type { ModelCatalogue, ModelPort } from "../ports/model-port.ts";
import type { SessionSettings } from "../settings/session-settings.ts";
import { ToolSet } from "../tools/tool-set.ts";
import type { LoopDeps } from "../turn/loop-deps.ts";
import { nextMessage } from "../turn/next-message.ts";
import { runTurnLoop, type TurnOutcome } from "../turn/turn-loop.ts";
import type { HostedAgentEnd, HostedAgentRequest } from "./hosted-agents.ts";
import { HostedEvents } from "./hosted-events.ts";
import type { HostedOwner } from "./hosted-owner.ts";
import { hostedWorkspace } from "./hosted-workspace.ts";
import { MemoryTranscript } from "./kept-conversations.ts";
import { noEventLog } from "./no-event-log.ts";
import { OpenWork } from "./open-work.ts";

/** What running one agent takes from its host. */
export interface HostedRunContext {
  readonly owner: HostedOwner;
  /** Of the folder the agent works in. */
  readonly settings: SessionSettings;
  readonly environment: {
    readonly models: ModelCatalogue;
    readonly clock: Clock;
    readonly ids: IdSource;
    readonly logger: Logger;
  };
  readonly signal: AbortSignal;
}

/** A call that does not end after an interrupt holds its loop up no longer than this; the end waits for it. */
const STOP_GRACE_MS = 600;

/**
 * Runs one agent and keeps its conversation. Settles when everything it has started has ended.
 *
 * @throws TriviumError `notFound` when the conversation to go on with is not kept.
 */
export async function runHostedAgent(
  request: HostedAgentRequest,
  context: HostedRunContext,
): Promise<HostedAgentEnd> {
  const { owner, settings, environment, signal } = context;
  const source = request.resumeFrom === undefined ? undefined : owner.conversations.get(request.resumeFrom);
  const transcript = new MemoryTranscript(source ?? { records: [], bytes: 0 });
  const conversation = new Conversation({ records: transcript.records, transcript, ...environment });
  const work = new OpenWork();
  let model: { readonly profile: string; readonly port: ModelPort };
  try {
    model = openModel(source?.modelProfile ?? request.modelProfile, context);
  } catch (thrown) {
    if (!CrabcodeError.isInstance(thrown)) throw thrown;
    return { status: "failed", text: "", error: thrown.message, ...nothingUsed };
  }
  const operationId = environment.ids.hex(16);
  const log = noEventLog(environment.clock);
  const bus = new SessionEventBus({ sessionId: request.id, log, ...environment });
  const events = new HostedEvents(bus, operationId);
  const deps: LoopDeps = {
    loop: { sessionId: request.id, agentNumber: owner.nextOrdinal(), profile: model.profile },
    model: work.model(model.port),
    events,
    conversation,
    operationId,
    mode: "agent",
    system: [request.systemPrompt],
    userContext: undefined,
    tools: new ToolSet(request.tools.map((tool) => work.tool(tool))),
    // Whoever hosts the agent answers for its tools; what the settings deny stays denied.
    policy: new PermissionPolicy({ ...settings.permissions, mode: "bypassPermissions" }, request.cwd),
    questions: new QuestionRegistry({ bus, settledKeys: [], journal: { settled: () => {} }, ...environment }),
    workspace: hostedWorkspace(request.cwd),
    hooks: noHooks,
    compaction: settings.compaction,
    journal: {
      callStarted: () => {},
      progress: (turns, usage) => request.onProgress?.(usageOf(work, turns, usage)),
    },
    isInteractive: false,
    stopGraceMs: STOP_GRACE_MS,
    replyTo: undefined,
    reminder: undefined,
    questionTimeoutMs: 0,
    toolCallTimeoutMs: settings.toolCallTimeoutMs,
    resumed: undefined,
    ...environment,
  };
  const maxTurns = request.maxTurns ?? settings.agents.maxTurns;
  try {
    for (const message of firstMessages(request, conversation)) {
      await conversation.append(message, { operationId, eventSeq: 0 });
    }
    const before = conversation.entries.length;
    const outcome = await runTurnLoop(deps, { maxTurns, signal });
    const { inputTokens, outputTokens } = outcome.usage;
    return {
      ...endOf(outcome, { failure: events.failure, maxTurns }),
      text: lastText(conversation.entries.slice(before).map(({ message }) => message)),
      ...usageOf(work, outcome.turnCount, { input_tokens: inputTokens, output_tokens: outputTokens }),
    };
  } finally {
    await work.ended();
    await bus.close();
    const { records, bytes } = transcript;
    owner.conversations.keep(request.id, { records, bytes, modelProfile: model.profile });
  }
}

const nothingUsed = { turns: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0 };

function usageOf(
  work: OpenWork,
  turns: number,
  { input_tokens, output_tokens }: { readonly input_tokens: number; readonly output_tokens: number },
) {
  return { turns, toolCalls: work.callCount, inputTokens: input_tokens, outputTokens: output_tokens };
}

/** @throws CrabcodeError MODEL_NOT_FOUND, PROFILE_UNUSABLE */
function openModel(
  wanted: string | undefined,
  { owner, settings, environment }: HostedRunContext,
): { profile: string; port: ModelPort } {
  const { models, logger } = environment;
  const known = models.list(settings.models);
  const isThere = wanted !== undefined && known.some(({ name }) => name === wanted);
  if (wanted !== undefined && !isThere)
    logger.info({ wanted }, "a hosted agent has another model than it names");
  const profile = isThere ? wanted : models.defaultProfile(settings.models);
  const port = models.open(profile, { settings: settings.models, sessionId: "", state: owner.modelState });
  return { profile, port };
}

/** The preamble is a message of its own: models that look at the newest one find the task there. */
function firstMessages({ preamble, prompt }: HostedAgentRequest, conversation: Conversation): Message[] {
  const task = nextMessage(conversation.openCalls, prompt);
  if (preamble === undefined || conversation.messages.length > 0) return [task];
  return [{ role: "user", content: [{ type: "text", text: preamble }] }, task];
}

function lastText(messages: readonly Message[]): string {
  const said = messages.findLast(({ role, content }) => role === "assistant" && content.some(isText));
  return (said?.content ?? [])
    .filter(isText)
    .map(({ text }) => text)
    .join("")
    .trim();
}

type TextBlock = Extract<Message["content"][number], { type: "text" }>;

function isText(block: Message["content"][number]): block is TextBlock {
  return block.type === "text";
}

function endOf(
  { reason, turnCount }: TurnOutcome,
  { failure, maxTurns }: { readonly failure: string | undefined; readonly maxTurns: number },
): Pick<HostedAgentEnd, "status" | "error"> {
  switch (reason) {
    case "interrupted":
      return { status: "stopped", error: undefined };
    case "max_turns_reached":
      return {
        status: "failed",
        error: `it may make ${maxTurns} model requests and was not done after them`,
      };
    case "empty_response":
      return { status: "failed", error: `the model said nothing in answer to request ${turnCount}` };
    case "error":
    case "context_overflow":
    case "hook_blocked":
      return { status: "failed", error: failure ?? "the model failed and did not say why" };
    case "end_turn":
    case "mode_switch_requested":
      return { status: "completed", error: undefined };
  }
}
