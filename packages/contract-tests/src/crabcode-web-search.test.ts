import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { CrabcodeClient } from "@trivium/crabcode-client";
import { createNodeTransport } from "@trivium/rpc/node";
import { describe, expect, it } from "vitest";
import { makePlace } from "./crabcode/place.ts";
import { startVectorServer } from "./crabcode/vector-server.ts";

describe("WebSearch on a running server", () => {
  it("asks first, then the provider of the tools", { timeout: 60_000 }, async () => {
    await using stack = new AsyncDisposableStack();
    const asked: string[] = [];
    const engine = stack.adopt(
      createServer(({ url = "" }, response) => {
        asked.push(url);
        const results = [1, 2, 3].map((n) => ({
          title: `Page ${n}`,
          url: `https://docs.example/${n}`,
          content: `words ${n}`,
        }));
        response.end(JSON.stringify({ results: [...results, { title: "x", url: "javascript:1" }] }));
      }),
      closed,
    );
    engine.listen(0, "127.0.0.1");
    await once(engine, "listening");
    const address = engine.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const provider = JSON.stringify({ provider: "searxng", baseUrl: `http://127.0.0.1:${port}` });
    const server = stack.use(
      await startVectorServer({ TRIVIUM_CRABCODE_TESTING: "1" }, ["--set", `tools.webSearch=${provider}`]),
    );
    const program = `const { data } = await tools.WebSearch({ query: "cells" }); text(data.hits.length);`;
    const place = await makePlace(
      { cwd: join(server.workspace, "search"), scripts: join(server.scripts, "search") },
      { settings: { tool_settings: { WebSearch: { max_results: 1 } } } },
      [
        { tool_calls: [{ id: "c1", name: "WebSearch", input: { query: "two words", num_results: 2 } }] },
        { tool_calls: [{ id: "c2", name: "Code", input: { source: program } }] },
        { text: "done" },
      ],
    );
    await using transport = createNodeTransport({ baseUrl: server.url });
    const client = new CrabcodeClient(transport);
    const session = { sessionId: "search" };
    for await (const { type } of client.subscribe({ ...session, create: true, cwd: place.cwd })) {
      if (type === "server.connected") break;
    }
    const keys: unknown[] = [];
    const results: unknown[] = [];
    const askedBefore: number[] = [];
    const onPermission = (): "always" => {
      askedBefore.push(asked.length);
      return "always";
    };
    for await (const event of client.send("x", { ...session, onPermission })) {
      if (event.type === "permission_request") keys.push(event.permission_key);
      if (event.type === "tool_result") results.push(event.result);
    }
    expect(keys).toEqual(["WebSearch"]);
    expect(askedBefore).toEqual([0]);
    expect(results[0]).toBe(
      "[1] Page 1\nURL: https://docs.example/1\nSnippet: words 1\n\n" +
        "[2] Page 2\nURL: https://docs.example/2\nSnippet: words 2",
    );
    expect(results.at(-1)).toEqual(expect.stringMatching(/\nOutput:\n1$/));
    expect(asked).toEqual(["/search?q=two+words&format=json", "/search?q=cells&format=json"]);
  });
});

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}
