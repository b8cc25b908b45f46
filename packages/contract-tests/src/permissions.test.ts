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

      const controller = new AbortController();
      const watched: Payload[] = [];
      const watching = (async () => {
        for await (const event of watcher.subscribeEvents({ sessionId }, { signal: controller.signal })) {
          const payload = JSON.parse(event.payloadJson) as Payload;
          watched.push(payload);
          if (payload["type"] === "permission_request") {
            await watcher.respondPermission({
              sessionId,
              toolUseId: String(payload["tool_use_id"]),
              allowed,
            });
          }
        }
      })().catch((error: unknown) => {
        if (!controller.signal.aborted) throw error;
      });
      const writing = payloads(
        await readAll(sender.sendMessage({ text: `write ${file}: hello`, sessionId })),
      );
      expect(writing.find(({ type }) => type === "permission_request")).toMatchObject({ tool_name: "Write" });
      expect(writing.find(({ type }) => type === "tool_result")).toMatchObject({ is_error: !allowed });
      expect(writing.at(-1)).toMatchObject({ type: "turn_complete" });
      expect(existsSync(join(server.workspace, file))).toBe(allowed);
      if (allowed) expect(await readFile(join(server.workspace, file), "utf8")).toMatch(/^hello\n?$/);
      controller.abort();
      await watching;
      // Both clients saw the same events under the same numbers.
      const numbers = new Map(watched.map((payload) => [payload["seq"], payload["type"]]));
      for (const { seq, type } of writing) {
        if (
          seq !== undefined &&
          numbers.size > 0 &&
          Number(seq) <= Math.max(...[...numbers.keys()].map((key) => Number(key ?? 0)))
        ) {
          expect(numbers.get(seq)).toBe(type);
        }
      }
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
