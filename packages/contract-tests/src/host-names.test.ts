import { once } from "node:events";
import { connect } from "node:http2";
import { describe, expect, it } from "vitest";
import { startServerProcess } from "./server/server-process.ts";

describe("a server on loopback", () => {
  it("answers under its own names and the one the Codex CLI uses, and under no other", async () => {
    await using server = await startServerProcess();
    const session = connect(server.url);
    const statusFor = async (authority: string): Promise<unknown> => {
      const stream = session.request({ ":path": "/healthz", ":authority": authority });
      stream.resume();
      const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
      return headers[":status"];
    };
    const names = [
      "localhost:1",
      "127.0.0.1",
      "[::1]:80",
      "code-mode-host",
      "evil.example",
      "code-mode-host.evil.example",
    ];
    const statuses: unknown[] = [];
    for (const name of names) statuses.push(await statusFor(name));
    expect(statuses).toEqual([200, 200, 200, 200, 403, 403]);
    session.close();
  });
});
