import { createClient } from "@connectrpc/connect";
import { CodeModeHost } from "@trivium/proto/code-mode";
import { createNodeTransport } from "@trivium/rpc/node";
import { describe, expect, it } from "vitest";
import { compare } from "./code-mode-v1/compare.ts";
import { startHostProcess } from "./code-mode-v1/host-process.ts";
import { toFrame } from "./code-mode-v1/peer.ts";
import { replay } from "./code-mode-v1/replay.ts";
import { v1Vectors } from "./code-mode-v1/vector.ts";
import { connectWebSocket } from "./code-mode-v1/web-socket-peer.ts";
import { aliveOf, descendantsOf, eventually } from "./server/process-tree.ts";

/** One recording for each way in which a process ends, and one of everyday work. */
const chosen = [
  "delegate-tool-ok",
  "eof-after-hello",
  "eof-with-live-cell",
  "frame-malformed-json",
  "frame-oversize",
  "frame-truncated-payload",
  "hello-required-unknown",
  "hello-version-empty",
  "second-hello",
];

const busy = `text("a"); for (;;) {}`;

describe("trivium code-mode-host on its pipes", () => {
  it.concurrent.each(v1Vectors.filter(({ name }) => chosen.includes(name)))(
    "ends as recorded: $name",
    { retry: 2 },
    async (vector) => {
      await using host = startHostProcess(vector.name === "second-hello" ? ["--listen", "stdio://"] : []);
      expect(compare(vector, await replay(vector, host.peer))).toEqual([]);
      const hasComplained = host.stderr().includes("trivium: the connection broke: ");
      expect(hasComplained).toBe(vector.end.exitCode === 1);
    },
  );

  it.each(["SIGTERM", "SIGINT"] as const)("stops its cells and exits with 0 on %s", async (signal) => {
    await using host = startHostProcess([]);
    const messages: { type: string }[] = [];
    const started = new Promise<void>((resolve) => {
      host.peer.onPayload((payload) => {
        messages.push(JSON.parse(payload.toString()) as { type: string });
        if (messages.at(-1)?.type === "execute/initialResponse") resolve();
      });
    });
    host.peer.send(executeFrames(busy));
    await started;
    const workers = descendantsOf(host.pid);
    expect(workers.length).toBeGreaterThan(0);
    host.kill(signal);
    expect(await host.exited).toBe(0);
    expect(await eventually(() => aliveOf(workers).length === 0, 5_000)).toBe(true);
    expect(messages).toHaveLength(4);
  });

  it("leaves no worker behind when it is killed", async () => {
    await using host = startHostProcess([]);
    const started = new Promise<void>((resolve) => {
      host.peer.onPayload((payload) => {
        if (payload.toString().includes("initialResponse")) resolve();
      });
    });
    host.peer.send(executeFrames(busy));
    await started;
    const workers = descendantsOf(host.pid);
    host.kill("SIGKILL");
    await host.exited;
    expect(await eventually(() => aliveOf(workers).length === 0, 5_000)).toBe(true);
  });

  it("speaks HTTP/2 there when asked to, and ends with its client", async () => {
    await using host = startHostProcess(["--listen", "grpc+stdio://"]);
    host.peer.send([Buffer.from("this is not HTTP/2, which it says by ending")]);
    expect(await host.exited).toBe(0);
    // A settings frame: the length, the type, no stream.
    expect(host.stdout().charCodeAt(3)).toBe(4);
    await using silent = startHostProcess(["--listen", "grpc+stdio"]);
    silent.peer.close();
    expect(await silent.exited).toBe(0);
  });
});

describe("trivium code-mode-host on a port", () => {
  it("prints the address and nothing else, serves gRPC, and exits with 0 on SIGTERM", async () => {
    await using host = startHostProcess(["--listen", "grpc://127.0.0.1:0"]);
    const line = await host.firstLine();
    expect(line).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await using transport = createNodeTransport({ baseUrl: line, protocol: "grpc" });
    const client = createClient(CodeModeHost, transport);
    const lease = client.openSession({})[Symbol.asyncIterator]();
    expect((await lease.next()).value?.event.case).toBe("opened");
    host.kill("SIGTERM");
    await expect(lease.next()).rejects.toMatchObject({ code: 14 });
    expect(await host.exited).toBe(0);
    expect(host.stdout()).toBe(`${line}\n`);
  });

  it("prints the address of its WebSockets, and serves V1 there", async () => {
    await using host = startHostProcess(["--listen", "ws://127.0.0.1:0"]);
    const line = await host.firstLine();
    expect(line).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/);
    const vector = v1Vectors.find(({ name }) => name === "delegate-tool-ok");
    if (vector === undefined) throw new Error("there is no recording delegate-tool-ok");
    expect(compare(vector, await replay(vector, await connectWebSocket(line)))).toEqual([]);
    host.kill("SIGTERM");
    expect(await host.exited).toBe(0);
    expect(host.stdout()).toBe(`${line}\n`);
  });

  it.each([
    ["an unknown scheme", ["--listen", "tcp://127.0.0.1:1"], /^trivium: --listen cannot be tcp:.*\n$/],
    ["a name", ["--listen", "grpc://localhost:1"], /^trivium: --listen cannot be grpc:\/\/localhost:1.*\n$/],
    ["--listen twice", ["--listen", "stdio", "--listen", "stdio"], /may be given once/],
    ["an unknown flag", ["--port", "1"], /unknown option '--port'/],
    [
      "an open address without a token",
      ["--listen", "ws://0.0.0.0:0"],
      /^trivium: --listen names 0\.0\.0\.0,.*\n$/m,
    ],
  ])("is called wrongly with %s: exit code 2", async (_, parameters, complaint) => {
    await using host = startHostProcess(parameters);
    expect(await host.exited).toBe(2);
    expect(host.stdout()).toBe("");
    expect(host.stderr()).toMatch(complaint);
  });
});

/** Hello, session and one program whose first look ends at once. */
function executeFrames(source: string): Buffer[] {
  const execute = { tool_call_id: "c", enabled_tools: [], source, yield_time_ms: 1 };
  return [
    { type: "connection/hello", supportedVersions: [1], requiredCapabilities: [], optionalCapabilities: [] },
    { type: "operation/request", id: 1, request: { method: "session/open", sessionId: "s" } },
    {
      type: "operation/request",
      id: 2,
      request: { method: "session/execute", sessionId: "s", request: execute },
    },
  ].map((message) => toFrame(JSON.stringify(message)));
}
