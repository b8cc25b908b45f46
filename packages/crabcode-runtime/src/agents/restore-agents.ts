import type { ChoiceRequestEvent, PermissionRequestEvent } from "@trivium/proto/crabcode-events";
import { z } from "zod";
import type { PublishedEvent } from "../events/session-event-bus.ts";
import { eventsOfOperation, publishedText, settleCutRun } from "../turn/cut-run.ts";
import { LoopEvents } from "../turn/loop-events.ts";
import type { Agent } from "./agent.ts";
import type { AgentHost } from "./agent-host.ts";
import { openConversation } from "./agent-run.ts";

const asked = z.looseObject({
  type: z.enum(["permission_request", "choice_request"]),
  tool_use_id: z.string(),
  agent_id: z.string(),
});
const settled = z.looseObject({
  type: z.enum(["permission_response", "choice_response"]),
  tool_use_id: z.string(),
});

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
  for (const question of openQuestions(published)) questions.cancelLost(question, context);
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

function openQuestions(events: readonly PublishedEvent[]): (PermissionRequestEvent | ChoiceRequestEvent)[] {
  const open = new Map<string, PermissionRequestEvent | ChoiceRequestEvent>();
  for (const { data } of events) {
    const event: unknown = JSON.parse(data);
    if (asked.safeParse(event).success) {
      // The log holds what this package wrote; the type of the event says its shape.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const request = event as PermissionRequestEvent | ChoiceRequestEvent;
      open.set(request.tool_use_id, request);
    } else {
      const answer = settled.safeParse(event).data;
      if (answer !== undefined) open.delete(answer.tool_use_id);
    }
  }
  return [...open.values()];
}
