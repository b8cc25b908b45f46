import { createHash } from "node:crypto";
import { abortReason } from "@trivium/core";
import { CrabcodeError } from "../crabcode-error.ts";
import type { Session } from "../sessions/session.ts";
import type { SessionRegistry } from "../sessions/session-registry.ts";
import { byClient } from "./agent-manager.ts";
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
} from "./agent-types.ts";

const MAX_PROMPT_BYTES = 1024 * 1024;
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,128}$/;

/** What the calls work with. */
export interface AgentCallsDeps {
  readonly registry: SessionRegistry;
  /** The session that owns an agent, loaded or stored. */
  readonly ownerOf: (agentId: string) => string | undefined;
}

/** What clients ask of agents: finds the session, checks the request, answers with snapshots. */
export class AgentCalls {
  readonly #deps: AgentCallsDeps;

  constructor(deps: AgentCallsDeps) {
    this.#deps = deps;
  }

  async spawn(input: SpawnAgentInput): Promise<SpawnedAgent> {
    const session = await this.#deps.registry.resolve(input.session);
    const { sessionId, agents } = session;
    const { prompt, subagentType = "", name, modelProfile, hasCallback = false, idempotencyKey } = input;
    if (input.signal?.aborted === true) throw abortReason(input.signal);
    assertPrompt(prompt, session);
    assertKey(idempotencyKey, session);
    const requestHash = hash([prompt, subagentType, name ?? null, modelProfile ?? null, hasCallback]);
    const known = idempotencyKey === undefined ? undefined : agents.findByKey(idempotencyKey);
    if (known !== undefined) {
      assertSame(known.record.requestHash, { requestHash, session });
      return { sessionId, agentId: known.id, isReplay: true };
    }
    const { id } = agents.spawn(
      {
        prompt: prompt.toWellFormed(),
        type: subagentType,
        name: name?.toWellFormed(),
        modelProfile,
        hasCallback,
        isInteractive: input.isInteractive !== false,
        requestHash,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      },
      byClient,
    );
    return { sessionId, agentId: id, isReplay: false };
  }

  async get({ sessionId, agentId }: AgentReference): Promise<AgentSnapshot> {
    const session = await this.sessionOf(sessionId, agentId);
    return session.agents.get(agentId).snapshot(session.sessionId);
  }

  async list(selector: string): Promise<AgentListing> {
    const { sessionId, agents } = await this.#deps.registry.resolve({ sessionId: selector });
    const newestFirst = agents.all.sort(
      (a, b) => b.record.createdAtMs - a.record.createdAtMs || b.record.ordinal - a.record.ordinal,
    );
    return { sessionId, agents: newestFirst.map((agent) => agent.snapshot(sessionId)) };
  }

  async cancel({ sessionId, agentId }: AgentReference): Promise<CancelledAgent> {
    const session = await this.sessionOf(sessionId, agentId);
    const isStopped = await session.agents.cancel(session.agents.get(agentId));
    return { sessionId: session.sessionId, isStopped };
  }

  async wait({ sessionId, agentIds, timeoutMs, signal }: WaitAgentInput): Promise<AgentSnapshot> {
    const ids = [...new Set(agentIds.filter((id) => id.trim() !== ""))];
    const [first] = ids;
    if (first === undefined) {
      throw new CrabcodeError("FIELD_INVALID", "agent_ids names no agent", { field: "agent_ids" });
    }
    const session = await this.sessionOf(sessionId, first);
    const wanted = ids.map((id) => session.agents.get(id));
    const ended = await session.agents.waitAny(wanted, { timeoutMs, signal });
    if (ended !== undefined) return ended.snapshot(session.sessionId);
    throw new CrabcodeError("WAIT_TIMEOUT", `no agent has ended within ${timeoutMs ?? 0} ms`, {
      sessionId: session.sessionId,
    });
  }

  async input({ sessionId, agentId, prompt, ...more }: AgentInput): Promise<AcceptedAgentInput> {
    const session = await this.sessionOf(sessionId, agentId);
    const { agents, parts, environment } = session;
    const { interrupt = false, idempotencyKey } = more;
    assertPrompt(prompt, session);
    assertKey(idempotencyKey, session);
    const requestHash = hash([agentId, prompt, interrupt]);
    const nowMs = environment.clock.now();
    const known = idempotencyKey === undefined ? undefined : parts.agents.findInput(idempotencyKey, nowMs);
    if (known !== undefined) {
      assertSame(known.requestHash, { requestHash, session });
      return { sessionId: session.sessionId, callbackEpoch: known.callbackEpoch, isReplay: true };
    }
    const agent = agents.get(agentId);
    await agents.input(agent, { prompt: prompt.toWellFormed(), interrupt }, byClient);
    const { callbackEpoch } = agent.record;
    if (idempotencyKey !== undefined) {
      parts.agents.addInput(idempotencyKey, { requestHash, callbackEpoch, nowMs });
    }
    return { sessionId: session.sessionId, callbackEpoch, isReplay: false };
  }

  /** The session that a call about an agent means. */
  async sessionOf(sessionId: string, agentId: string): Promise<Session> {
    const { registry, ownerOf } = this.#deps;
    if (agentId.trim() === "") {
      throw new CrabcodeError("FIELD_INVALID", "agent_id is blank", { field: "agent_id" });
    }
    if (sessionId !== "") return registry.resolve({ sessionId });
    const owner = ownerOf(agentId);
    if (owner !== undefined) return registry.resolve({ sessionId: owner });
    // A runtime that is closing says so first.
    registry.assertOpen();
    throw new CrabcodeError("AGENT_NOT_FOUND", "no session has an agent with that id");
  }
}

function assertPrompt(prompt: string, { sessionId }: Session): void {
  if (prompt.trim() === "") throw new CrabcodeError("EMPTY_TEXT", "prompt is blank", { sessionId });
  if (Buffer.byteLength(prompt) > MAX_PROMPT_BYTES) {
    throw new CrabcodeError("TOO_LARGE", "prompt is larger than 1 MiB", { sessionId });
  }
}

function assertKey(key: string | undefined, { sessionId }: Session): void {
  if (key === undefined || IDEMPOTENCY_KEY.test(key)) return;
  const message = "an idempotency key has 1 to 128 printable ASCII characters";
  throw new CrabcodeError("IDEMPOTENCY_KEY_INVALID", message, { sessionId });
}

function assertSame(
  known: string | undefined,
  { requestHash, session }: { requestHash: string; session: Session },
): void {
  if (known === requestHash) return;
  const message = "the idempotency key belongs to another request";
  throw new CrabcodeError("IDEMPOTENCY_MISMATCH", message, { sessionId: session.sessionId });
}

/** Fingerprint of a request without its session. */
function hash(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
