import { join } from "node:path";
import type { Transport } from "@connectrpc/connect";
import { makePlace } from "./place.ts";
import { Player, pause } from "./player.ts";
import { describedValues, statusStates } from "./status-states.ts";
import type { CallAction, Json, StatusCase } from "./vector.ts";
import type { VectorServer } from "./vector-server.ts";

/** Where a case is played. */
export interface StatusStage {
  readonly server: VectorServer;
  readonly openTransport: (url: string) => Transport;
  /** No other case has it. */
  readonly unique: string;
}

/** Brings about the state of a case, makes its call, and says how that ended otherwise than expected. */
export async function playStatusCase(
  { state, ...call }: StatusCase,
  { server, openTransport, unique }: StatusStage,
): Promise<unknown[]> {
  const known = statusStates[state];
  if (known === undefined) throw new Error(`there is no state ${state}`);
  const { session, setup = {}, script = [], actions = [], words = {}, metadata = {} } = known;
  const isOwn = session === "own";
  const place = await makePlace(
    { cwd: join(server.workspace, unique), scripts: join(server.scripts, unique) },
    setup,
    script,
  );
  const player = new Player({ server, openTransport, place, sessionId: isOwn ? unique : "", metadata });
  player.captures.set("SESSION", unique);
  try {
    if (isOwn) await player.createSession();
    await player.play(actions);
    if (known.server === "draining") await beginToDrain(server);
    await player.play([{ ...withWords(call, words), as: "call" }]);
    const faults = player.streams.has("call") ? await player.endFaults("call") : [];
    // What is held goes on, and a server that drains can end.
    await place.release("never");
    for (const [name, { expectedEnd }] of player.streams) {
      if (expectedEnd?.code !== "OK") faults.push(...(await player.endFaults(name)));
    }
    return [...player.faults, ...faults];
  } finally {
    player.leave();
    if (isOwn) await stopAgents(player);
  }
}

/** Agents that wait for an answer would keep the server from ending. */
async function stopAgents(player: Player): Promise<void> {
  const listing = await player.call("ListAgents", {});
  for (const { agent_id } of (listing?.["agents"] ?? []) as readonly Json[]) {
    await player.call("CancelAgent", { agent_id });
  }
}

/** Tells the server to stop and waits until it accepts nothing new; what runs keeps it from being gone. */
async function beginToDrain(server: VectorServer): Promise<void> {
  void server.stop();
  for (;;) {
    const isOpen = await fetch(`${server.url}/healthz`).then(
      () => true,
      () => false,
    );
    if (!isOpen) return;
    await pause(20);
  }
}

/** The call with the described values in place; values of the state are left as placeholders. */
function withWords(
  { rpc, request, metadata, expect_code, expect_reason }: Omit<StatusCase, "state">,
  words: Readonly<Record<string, string>>,
): CallAction {
  return {
    rpc,
    request: replaced(request, words),
    ...(metadata !== undefined && { metadata: replaced(metadata, words) }),
    expect_code,
    ...(expect_reason !== undefined && { expect_reason }),
  };
}

function replaced<Value>(value: Value, words: Readonly<Record<string, string>>): Value {
  const replace = (one: unknown): unknown => {
    if (typeof one === "string") return words[one] ?? describedValues[one] ?? one;
    if (Array.isArray(one)) return one.map(replace);
    if (typeof one !== "object" || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, replace(inner)]));
  };
  return replace(value) as Value;
}
