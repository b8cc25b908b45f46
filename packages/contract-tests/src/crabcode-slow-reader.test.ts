import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Payload } from "./crabcode/calls.ts";
import { carriers, uniqueName } from "./crabcode/carriers.ts";
import { makePlace } from "./crabcode/place.ts";
import { startVectorServer, type VectorServer } from "./crabcode/vector-server.ts";
import { readAll } from "./take.ts";

let server: VectorServer;
const servers = new AsyncDisposableStack();
beforeAll(async () => {
  server = servers.use(await startVectorServer());
});
afterAll(() => servers.disposeAsync());

/** More than the queue of a stream holds, in events and in bytes. */
const pieces = Array.from({ length: 4000 }, (_, index) => `${index} `.padEnd(1200, "."));

describe.each(carriers)("a subscriber that does not read, over $name", (carrier) => {
  it("holds up no turn and gets everything when it reads again", { timeout: 120_000 }, async () => {
    const sessionId = uniqueName("slow", carrier);
    const place = await makePlace(
      { cwd: join(server.workspace, sessionId), scripts: join(server.scripts, sessionId) },
      {},
      [{ text: pieces }],
    );
    const client = createClient(CrabCodeService, carrier.createTransport(server.url));
    const abort = new AbortController();
    const headers = { "crabcode-create-session": "1", "crabcode-cwd": place.cwd };
    const slow = client
      .subscribeEvents({ sessionId }, { headers, signal: abort.signal })
      [Symbol.asyncIterator]();
    await slow.next();

    const sent = await readAll(client.sendMessage({ sessionId, text: "x" }));
    expect(sent.at(-1)?.type).toBe("turn_complete");

    let text = "";
    let lastSeq = 0;
    for (let next = await slow.next(); next.done !== true; next = await slow.next()) {
      const event = JSON.parse(next.value.payloadJson) as Payload;
      if (event.type === "server.heartbeat") continue;
      // Merged texts stand for several numbers; none is left out.
      expect(event["seq_from"] ?? event["seq"]).toBe(lastSeq + 1);
      lastSeq = Number(event["seq"]);
      if (event.type === "stream_text") text += String(event["text"]);
      if (event.type === "turn_complete") break;
    }
    abort.abort();
    expect(text === pieces.join("")).toBe(true);
    expect(lastSeq).toBe(pieces.length + 3);
  });
});
