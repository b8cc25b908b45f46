import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createNodeTransport } from "@trivium/rpc/node";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type ServerProcess, startServerProcess } from "../server/server-process.ts";
import { makeFirstCalls } from "./first-calls.ts";

describe("the SDKs in Node", () => {
  let server: ServerProcess;

  beforeAll(async () => {
    server = await startServerProcess();
    await writeFile(join(server.workspace, "hello.txt"), "hello from the workspace\n");
  });

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  it.each(["grpc", "grpc-web", "connect"] as const)(
    "make the README's first calls over %s",
    async (protocol) => {
      await using transport = createNodeTransport({ baseUrl: server.url, protocol });
      await makeFirstCalls(transport);
    },
  );

  it("make them with a token", async () => {
    // The token reaches every call, those of streams included.
    await using guarded = await startServerProcess({ env: { TRIVIUM_TOKEN: "a token" } });
    await writeFile(join(guarded.workspace, "hello.txt"), "hello from the workspace\n");
    await using transport = createNodeTransport({ baseUrl: guarded.url, token: "a token" });
    await makeFirstCalls(transport);
  });
});
