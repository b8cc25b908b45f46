import { join } from "node:path";
import { sleep } from "@trivium/core";
import type { CodeCells } from "../code/code-cells.ts";
import { openCells } from "../code/open-cells.ts";
import { Conversation } from "../conversation/conversation.ts";
import { sessionHooks } from "../hooks/session-hooks.ts";
import type { AgentUsage } from "../store/agent-store.ts";
import { noTranscript, TranscriptFile } from "../store/transcript.ts";
import type { ToolSet } from "../tools/tool-set.ts";
import type { LoopDeps } from "../turn/loop-deps.ts";
import { buriedNotification, nextMessage } from "../turn/next-message.ts";
import { runTurnLoop, type TurnOutcome } from "../turn/turn-loop.ts";
import type { Agent } from "./agent.ts";
import { AgentEvents } from "./agent-events.ts";
import type { AgentHost } from "./agent-host.ts";
import { agentPrompt, toolsOfType } from "./agent-tool-list.ts";

/** A stopped run that has not ended by then is left behind. */
const STOP_BOUND_MS = 3000;
const STOP_GRACE_MS = [900, 600, 300] as const;
const LEAST_STOP_GRACE_MS = 100;

/** How a run ended. */
export interface AgentRunEnd {
  readonly status: "completed" | "failed" | "stopped";
  readonly error: string;
  readonly finalResult: string;
}

/**
 * Runs an agent from the message it begins with to its end. Never rejects, and ends within a bounded time once it was
 * stopped.
 *
 * @param onUsage gets what this run used so far, after each request
 */
export async function runAgent(
  host: AgentHost,
  agent: Agent,
  onUsage: (usage: Required<AgentUsage>) => void,
): Promise<AgentRunEnd> {
  const { record } = agent;
  const { operationId } = record;
  const { parts, environment } = host;
  const root = agent.rootOperationId;
  const context = {
    operationId,
    // The events belong to the turn that led to the run as long as that goes on.
    get scope() {
      return root !== undefined && host.isForeground(root)
        ? ("foreground" as const)
        : ("background" as const);
    },
  };
  const events = new AgentEvents(parts.bus, { agentId: agent.id, context });
  const done = new AbortController();
  const loop = runLoop(host, agent, { events, onUsage }).catch((cause: unknown) => {
    environment.logger.error({ sessionId: parts.sessionId, agentId: agent.id, cause }, "an agent failed");
    events.error({ message: "internal error", recoverable: true, error_type: "agent" });
    return undefined;
  });
  const outcome = await Promise.race([loop, leftBehind(host, agent, done.signal)]);
  done.abort();
  events.close();
  parts.operations.forgetCalls(operationId);
  const finalResult = events.text;
  if (agent.signal.aborted) return { status: "stopped", error: agent.stopReason, finalResult };
  if (events.failure !== undefined) return { status: "failed", error: events.failure, finalResult };
  if (outcome === undefined) return { status: "failed", error: "internal error", finalResult };
  return { status: "completed", error: "", finalResult };
}

/** The conversation of an agent, read from its transcript with the first run of this life of the session. */
export async function openConversation({ environment }: AgentHost, agent: Agent): Promise<Conversation> {
  const { clock, ids, logger } = environment;
  const { transcriptPath } = agent;
  const file = transcriptPath === undefined ? undefined : new TranscriptFile(transcriptPath);
  const records = (await file?.read(logger)) ?? [];
  return new Conversation({ records, transcript: file ?? noTranscript, clock, ids });
}

/** Where the transcript of an agent is; undefined when nothing is kept on disk. */
export function agentTranscriptPath(
  transcripts: string | undefined,
  agent: { sessionId: string; agentId: string },
): string | undefined {
  if (transcripts === undefined) return undefined;
  return join(transcripts, `${agent.sessionId}.agents`, `${agent.agentId}.jsonl`);
}

async function leftBehind({ environment }: AgentHost, agent: Agent, done: AbortSignal): Promise<undefined> {
  await new Promise<void>((resolve) => {
    if (agent.signal.aborted) resolve();
    const onAbort = (): void => resolve();
    agent.signal.addEventListener("abort", onAbort, { once: true });
    done.addEventListener("abort", () => agent.signal.removeEventListener("abort", onAbort), { once: true });
  });
  // The sleep rejects when the run has ended meanwhile.
  await sleep(environment.clock, STOP_BOUND_MS, done).catch(() => {});
}

async function runLoop(
  host: AgentHost,
  agent: Agent,
  run: { events: AgentEvents; onUsage: (usage: Required<AgentUsage>) => void },
): Promise<TurnOutcome> {
  const { parts } = host;
  agent.conversation ??= await openConversation(host, agent);
  const { conversation, input } = agent;
  await using cleanUp = new AsyncDisposableStack();
  // The file is opened again with the next message.
  cleanUp.defer(() => conversation.close());
  const { operationId } = agent.record;
  const messageId = input?.messageId;
  if (
    input !== undefined &&
    (messageId === undefined || conversation.notification(messageId) === undefined)
  ) {
    const message = nextMessage(conversation.openCalls, input.text);
    await conversation.append(
      messageId === undefined ? message : { ...message, origin: "task-notification" },
      { operationId, eventSeq: parts.bus.seq, ...(messageId !== undefined && { uuid: messageId }) },
    );
  }
  agent.input = undefined;
  agent.model ??= host.openProfile(agent.record.modelProfile);
  const { maxTurns } = parts.settings.agents;
  const cells = openCells(host.environment, parts, host.questions);
  // They end before the end of the run is told: their calls belong to it.
  cleanUp.use(cells);
  const tools = await host.tools.forRun(agent.signal);
  const deps = loopDeps(host, agent, { ...run, conversation, messageId, cells, tools });
  const outcome = await runTurnLoop(deps, { maxTurns, signal: agent.signal });
  await run.events.flush();
  await conversation.sync();
  return outcome;
}

function loopDeps(
  host: AgentHost,
  agent: Agent,
  run: {
    events: AgentEvents;
    onUsage: (usage: Required<AgentUsage>) => void;
    conversation: Conversation;
    messageId: string | undefined;
    cells: CodeCells | undefined;
    tools: ToolSet;
  },
): LoopDeps {
  const { parts, environment, policy, workspace } = host;
  const { settings, sessionId, operations } = parts;
  const { record, model } = agent;
  const { operationId, ordinal, type, depth, modelProfile } = record;
  if (model === undefined) throw new Error("the model of an agent is opened before its run");
  const stopGraceMs = STOP_GRACE_MS[depth] ?? LEAST_STOP_GRACE_MS;
  return {
    loop: { sessionId, agentNumber: ordinal, profile: modelProfile },
    model,
    events: run.events,
    conversation: run.conversation,
    operationId,
    mode: "agent",
    system: [agentPrompt(type, settings.agents)],
    userContext: undefined,
    tools: toolsOfType(run.tools.all, { type, depth, settings: settings.agents }),
    policy,
    questions: run.cells?.questions ?? host.questions,
    cells: run.cells,
    workspace,
    hooks: sessionHooks(host, stopGraceMs),
    compaction: settings.compaction,
    journal: {
      callStarted: (toolUseId) => operations.callStarted(operationId, toolUseId),
      progress: (_, usage) => run.onUsage(usage),
    },
    isInteractive: record.isInteractive,
    stopGraceMs,
    replyTo: run.messageId,
    reminder: run.messageId === undefined ? undefined : buriedNotification(run.conversation, run.messageId),
    resumed: undefined,
    questionTimeoutMs: settings.permissions.requestTimeoutMs,
    toolCallTimeoutMs: settings.toolCallTimeoutMs,
    clock: environment.clock,
    ids: environment.ids,
    logger: environment.logger,
  };
}
