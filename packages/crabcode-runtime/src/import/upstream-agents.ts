import { readFile } from "node:fs/promises";
import { z } from "zod";
import type { AgentRecord } from "../store/agent-store.ts";

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

/** The agents beside a transcript, in their order. None when there is no such file, or nothing in it. */
export async function readAgents(
  path: string,
  session: { operationId: () => string },
): Promise<AgentRecord[]> {
  const list = z.array(z.unknown()).safeParse(await readJson(path)).data ?? [];
  const agents = list.flatMap((value) => snapshot.safeParse(value).data ?? []);
  return agents.map((agent, index) =>
    toRecord(agent, { ordinal: index + 1, operationId: session.operationId() }),
  );
}

/** Nothing of it goes on: what ran is stopped, and a result that was on its way is not handed over again. */
function toRecord(
  agent: z.infer<typeof snapshot>,
  { ordinal, operationId }: { ordinal: number; operationId: string },
): AgentRecord {
  const isCut = agent.status === "queued" || agent.status === "running";
  const { input_tokens, output_tokens } = agent.usage;
  const createdAtMs = timeOf(agent.created_at) ?? 0;
  return {
    agentId: agent.agent_id,
    ordinal,
    parentId:
      agent.parent_agent_id === null || agent.parent_agent_id === "" ? undefined : agent.parent_agent_id,
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
    operationId,
    runEpoch: undefined,
    runAfterSeq: undefined,
  };
}

function timeOf(value: string | null | undefined): number | undefined {
  const atMs = Date.parse(value ?? "");
  return Number.isNaN(atMs) ? undefined : atMs;
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    // A session without agents has no such file.
    return undefined;
  }
}
