import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { type CoreEventProto, CrabCodeService } from "@trivium/proto/crabcode";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServerProcess, startServerProcess } from "./server/server-process.ts";
import { readAll } from "./take.ts";

type Payload = Record<string, unknown>;

describe("an offline conversation with tools", () => {
  let server: ServerProcess;

  beforeAll(async () => {
    server = await startServerProcess();
  });

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  it.each([true, false])(
    "calls two tools, one after a permission that a second client answers with %s",
    async (allowed) => {
      const sessionId = `permission-${allowed}`;
      const file = `written-${allowed}.txt`;
      await writeFile(join(server.workspace, "notes.txt"), "first line\nsecond line\n");
      const sender = createClient(CrabCodeService, createGrpcTransport({ baseUrl: server.url }));
      const watcher = createClient(
        CrabCodeService,
        createConnectTransport({ baseUrl: server.url, httpVersion: "1.1" }),
      );
      const create = { headers: { "crabcode-create-session": "1" } };

      const reading = payloads(
        await readAll(sender.sendMessage({ text: "read notes.txt", sessionId }, create)),
      );
      expect(reading.find(({ type }) => type === "tool_use")).toMatchObject({ tool_name: "Read" });
      expect(reading.find(({ type }) => type === "permission_request")).toBeUndefined();
      expect(reading.find(({ type }) => type === "tool_result")).toMatchObject({ is_error: false });
      expect(textOf(reading)).toContain("first line");

      const subscribed = Promise.withResolvers<void>();
      const watched: Payload[] = [];
      const watching = (async () => {
        for await (const event of watcher.subscribeEvents({ sessionId })) {
          const payload = JSON.parse(event.payloadJson) as Payload;
          watched.push(payload);
          if (payload["type"] === "server.connected") subscribed.resolve();
          if (payload["type"] === "permission_request") {
            const toolUseId = String(payload["tool_use_id"]);
            await watcher.respondPermission({ sessionId, toolUseId, allowed });
          }
          if (payload["type"] === "turn_complete") return;
        }
      })();
      await subscribed.promise;
      const writing = payloads(
        await readAll(sender.sendMessage({ text: `write ${file}: hello`, sessionId })),
      );
      expect(writing.find(({ type }) => type === "permission_request")).toMatchObject({ tool_name: "Write" });
      expect(writing.find(({ type }) => type === "tool_result")).toMatchObject({ is_error: !allowed });
      expect(writing.at(-1)).toMatchObject({ type: "turn_complete" });
      expect(existsSync(join(server.workspace, file))).toBe(allowed);
      if (allowed) expect(await readFile(join(server.workspace, file), "utf8")).toMatch(/^hello\n?$/);
      await watching;
      // Both clients saw the same events under the same numbers; the watcher also saw the answer.
      const numbers = new Map(watched.map(({ seq, type }) => [seq, type]));
      expect(writing.map(({ seq }) => numbers.get(seq))).toEqual(writing.map(({ type }) => type));
      expect(watched.map(({ type }) => type)).toContain("permission_response");
    },
  );
});

function payloads(events: readonly CoreEventProto[]): Payload[] {
  return events.map(({ payloadJson }) => JSON.parse(payloadJson) as Payload);
}

function textOf(events: readonly Payload[]): string {
  return events
    .filter(({ type }) => type === "stream_text")
    .map(({ text }) => text)
    .join("");
}
