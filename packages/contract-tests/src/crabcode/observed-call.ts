import { join } from "node:path";
import { CrabcodeClient } from "@trivium/crabcode-client";
import { createNodeTransport } from "@trivium/rpc/node";
import { makePlace } from "./place.ts";
import type { Json } from "./vector.ts";
import type { VectorServer } from "./vector-server.ts";

/** A call of a model, and the rules it is made under. */
export interface CallCase {
  /** No other case has it. */
  readonly name: string;
  readonly tool: string;
  readonly input: Json;
  /** The `permissions` of the settings. */
  readonly permissions?: Json;
  readonly isPlanMode?: boolean;
  /** Calls that are made before and answered with "always". */
  readonly granted?: readonly { readonly tool: string; readonly input: Json }[];
}

/** What became of it, as a client sees it. */
export interface ObservedCall {
  readonly outcome: "allow" | "ask" | "deny" | "unknown tool";
  /** What "always" would have granted. */
  readonly key: string | null | undefined;
}

/** Values that the schemas of tools demand and cases leave out. */
const neededInputs: Readonly<Record<string, Json>> = { Write: { content: "x" } };

/** Has a model make the call in a session of its own; questions about it are answered with no. */
export async function observeCall(server: VectorServer, call: CallCase): Promise<ObservedCall> {
  const { name, permissions = {}, isPlanMode = false, granted = [] } = call;
  const place = await makePlace(
    { cwd: join(server.workspace, name), scripts: join(server.scripts, name) },
    { settings: { permissions } },
    [...granted, call].flatMap(({ tool, input }, index) => [
      { tool_calls: [{ id: `c${index}`, name: tool, input: { ...neededInputs[tool], ...input } }] },
      { text: "done" },
    ]),
  );
  await using transport = createNodeTransport({ baseUrl: server.url });
  const client = new CrabcodeClient(transport);
  const session = { sessionId: name };
  for await (const { type } of client.subscribe({ ...session, create: true, cwd: place.cwd })) {
    if (type === "server.connected") break;
  }
  for (const { tool } of granted) {
    let questions = 0;
    const onPermission = (): "always" => {
      questions += 1;
      return "always";
    };
    await client.send("x", { ...session, onPermission }).result();
    if (questions !== 1) throw new Error(`${tool} was not asked about and cannot be granted`);
  }
  if (isPlanMode) await client.switchMode("plan", session);
  let key: string | null | undefined;
  let result = "";
  const turn = client.send("x", { ...session, onPermission: () => "deny" });
  for await (const event of turn) {
    if (event.type === "permission_request") key = event.permission_key;
    if (event.type === "tool_result") result = event.result;
  }
  return { outcome: outcomeOf(key !== undefined, result), key };
}

function outcomeOf(isAsked: boolean, result: string): ObservedCall["outcome"] {
  if (isAsked) return "ask";
  if (result.startsWith("Permission denied")) return "deny";
  return result.startsWith("Error: unknown tool") ? "unknown tool" : "allow";
}
