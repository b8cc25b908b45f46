import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Carrier, carriers, uniqueName } from "./crabcode/carriers.ts";
import { knownFailures } from "./crabcode/known-failures.ts";
import { makePlace } from "./crabcode/place.ts";
import { runConversation } from "./crabcode/run-conversation.ts";
import { type Conversation, knownKeys, readVectors } from "./crabcode/vector.ts";
import { vectorCorrections } from "./crabcode/vector-corrections.ts";
import { startVectorServer, type VectorServer } from "./crabcode/vector-server.ts";

const { conversations } = readVectors();

/** Real waits of a case add up; a busy machine doubles them. */
const timeout = 120_000;

let shared: VectorServer;
/** For conversations that see all that happens on their server, one at a time. */
let quiet: VectorServer;
const servers = new AsyncDisposableStack();
beforeAll(async () => {
  shared = servers.use(await startVectorServer());
  quiet = servers.use(await startVectorServer());
});
afterAll(() => servers.disposeAsync());

describe.each(carriers)("conversations over $name", (carrier) => {
  const [alone, others] = [true, false].map((isAlone) =>
    conversations.filter((one) => watchesAllSessions(one) === isAlone),
  );
  it.concurrent.for(others ?? [])("$name", { timeout }, (conversation) => check(conversation, carrier));
  it.for(alone ?? [])("$name", { timeout }, (conversation) => check(conversation, carrier));
});

async function check(conversation: Conversation, carrier: Carrier): Promise<void> {
  const faults = await play(conversation, carrier).catch((thrown: unknown) => [String(thrown)]);
  // As text: a difference is easier to read on one line.
  const found = faults.map((fault) => JSON.stringify(fault));
  if (conversation.name in knownFailures) expect(found).not.toEqual([]);
  else expect(found).toEqual([]);
}

describe("the file of cases", () => {
  const file = readVectors();
  const names = [...conversations, ...file.rpc_errors].map(({ name }) => name);

  it("has unique names, and what is said about cases names some of them", () => {
    expect(new Set(names).size).toBe(names.length);
    const listed = [...Object.entries(knownFailures), ...Object.entries(vectorCorrections)];
    expect(listed.filter(([name, reason]) => !names.includes(name) || reason === "")).toEqual([]);
  });

  it("holds only what the runner reads", () => {
    const actions = conversations.flatMap((one) => one.client_actions);
    const objects: Readonly<Record<string, readonly object[]>> = {
      file: [file],
      conversation: conversations,
      setup: conversations.map(({ setup }) => setup),
      action: actions,
      wait: actions.flatMap((action) => [action.when ?? {}, "wait" in action ? action.wait : {}]),
      after: conversations.flatMap((one) => one.expect_after ?? []),
      status: file.rpc_errors,
    };
    const unknown = Object.entries(objects).flatMap(([kind, list]) =>
      list.flatMap((one) => Object.keys(one).filter((key) => knownKeys[kind]?.has(key) !== true)),
    );
    expect(unknown).toEqual([]);
  });
});

/** Plays a conversation in a folder and a session of its own; an isolated one on a server of its own. */
async function play(conversation: Conversation, carrier: Carrier): Promise<unknown[]> {
  const { setup, model_script: script } = conversation;
  const unique = uniqueName(conversation.name, carrier);
  await using stack = new AsyncDisposableStack();
  const server =
    setup.isolated === true
      ? stack.use(await startVectorServer())
      : watchesAllSessions(conversation)
        ? quiet
        : shared;
  // The default session works in the workspace root.
  const cwd = setup.isolated === true ? server.workspace : join(server.workspace, unique);
  const place = await makePlace({ cwd, scripts: join(server.scripts, unique) }, setup, script);
  return await runConversation(conversation, {
    server,
    openTransport: (url) => carrier.createTransport(url),
    place,
    sessionId: setup.isolated === true ? "" : unique,
  });
}

/** What such a client sees is all that happens on its server. */
function watchesAllSessions({ client_actions: actions }: Conversation): boolean {
  return actions.some(
    (action) => "rpc" in action && action.rpc === "SubscribeEvents" && action.request["session_id"] === "",
  );
}
