import { eventsOfOperation, publishedText, settleCutRun } from "../turn/cut-run.ts";
import { LoopEvents } from "../turn/loop-events.ts";
import { cancelQuestions, openQuestions } from "../turn/open-questions.ts";
import type { Agent } from "./agent.ts";
import type { AgentHost } from "./agent-host.ts";
import { openConversation } from "./agent-run.ts";

/** Brings what an earlier process left waiting or running to its end: stopped, its questions cancelled. */
export async function stopLostAgents(host: AgentHost, agents: readonly Agent[]): Promise<void> {
  for (const agent of agents) if (!agent.isOver) await stopLost(host, agent);
}

async function stopLost(host: AgentHost, agent: Agent): Promise<void> {
  const { parts, environment, questions } = host;
  const { record } = agent;
  const { operationId } = record;
  const context = { operationId, scope: "background" as const };
  const { bus, operations } = parts;
  const published =
    record.status === "running"
      ? await eventsOfOperation(bus, { operationId, epoch: record.runEpoch, afterSeq: record.runAfterSeq })
      : [];
  cancelQuestions(questions, openQuestions(published), context);
  const conversation = await openConversation(host, agent);
  await settleCutRun({
    conversation,
    bus,
    events: new LoopEvents(bus, { agentId: agent.id, context }),
    operationId,
    published,
    started: operations.startedCalls(operationId),
  });
  await conversation.sync();
  await conversation.close();
  operations.forgetCalls(operationId);
  record.status = "stopped";
  record.error = "session ended";
  record.finalResult = publishedText(published).trim();
  record.finishedAtMs = environment.clock.now();
  parts.agents.update(record);
  bus.publish(agent.stateEvent("session ended"), context);
  agent.conversation = conversation;
  agent.settle();
}
