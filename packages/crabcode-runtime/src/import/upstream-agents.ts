import { z } from "zod";
import type { AgentRecord } from "../store/agent-store.ts";
import { knownTime } from "../store/known-time.ts";
import { readOwnFile } from "./read-upstream.ts";

const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

const text = z.string().nullish().catch(undefined);
const count = z.int().min(0).optional().catch(undefined);

const snapshot = z.object({
  agent_id: z.string().regex(AGENT_ID),
  parent_agent_id: text,
  title: text,
  subagent_type: text,
  status: z.enum(["queued", "running", "completed", "failed", "stopped", "cancelled"]).catch("stopped"),
  model: text,
  created_at: text,
  finished_at: text,
  usage: z.object({ input_tokens: count, output_tokens: count }).catch({}),
  final_result: text,
  error: text,
  depth: z.int().min(1).catch(1),
});

type Snapshot = z.infer<typeof snapshot>;

/**
 * The agents beside a transcript, in their order, each once. None when there is no such file, or nothing in it.
 *
 * @param isTaken whether another session has an agent of that id
 */
export async function readAgents(
  path: string,
  { isTaken, operationId }: { isTaken: (agentId: string) => boolean; operationId: () => string },
): Promise<AgentRecord[]> {
  const list = z.array(z.unknown()).safeParse(await readJson(path)).data ?? [];
  const agents = new Map<string, Snapshot>();
  for (const value of list) {
    const agent = snapshot.safeParse(value).data;
    if (agent === undefined || agents.has(agent.agent_id) || isTaken(agent.agent_id)) continue;
    agents.set(agent.agent_id, agent);
  }
  const parents = parentsOf(agents);
  return [...agents.values()].map((agent, index) =>
    toRecord(agent, {
      ordinal: index + 1,
      parentId: parents.get(agent.agent_id),
      operationId: operationId(),
    }),
  );
}

/** Who delegated to whom, without what would lead back to the same agent: whoever goes up must come to an end. */
function parentsOf(agents: ReadonlyMap<string, Snapshot>): ReadonlyMap<string, string> {
  const parents = new Map<string, string>();
  for (const { agent_id: agentId, parent_agent_id: parentId } of agents.values()) {
    if (parentId === undefined || parentId === null || !agents.has(parentId)) continue;
    let top: string | undefined = parentId;
    while (top !== undefined && top !== agentId) top = parents.get(top);
    if (top === undefined) parents.set(agentId, parentId);
  }
  return parents;
}

/** Nothing of it goes on: what ran is stopped, and a result that was on its way is not handed over again. */
function toRecord(
  agent: Snapshot,
  place: Pick<AgentRecord, "ordinal" | "parentId" | "operationId">,
): AgentRecord {
  const isCut = agent.status === "queued" || agent.status === "running";
  const { input_tokens, output_tokens } = agent.usage;
  const createdAtMs = timeOf(agent.created_at) ?? 0;
  return {
    agentId: agent.agent_id,
    ...place,
    parentToolUseId: undefined,
    title: agent.title ?? "",
    type: agent.subagent_type ?? "generalPurpose",
    depth: agent.depth,
    model: agent.model ?? "",
    modelProfile: "",
    isInteractive: true,
    createdAtMs,
    hasCallback: false,
    idempotencyKey: undefined,
    requestHash: undefined,
    status: isCut || agent.status === "cancelled" ? "stopped" : agent.status,
    finishedAtMs: timeOf(agent.finished_at) ?? createdAtMs,
    usage: {
      ...(input_tokens !== undefined && { input_tokens }),
      ...(output_tokens !== undefined && { output_tokens }),
    },
    finalResult: agent.final_result ?? "",
    error: isCut ? "session ended" : (agent.error ?? ""),
    callbackState: "disabled",
    callbackMessageId: undefined,
    callbackEpoch: 0,
    runEpoch: undefined,
    runAfterSeq: undefined,
  };
}

function timeOf(value: string | null | undefined): number | undefined {
  const atMs = Date.parse(value ?? "");
  return knownTime(atMs);
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readOwnFile(path));
  } catch {
    // A session without agents has no such file.
    return undefined;
  }
}
