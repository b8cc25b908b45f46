import { once } from "node:events";
import { request as httpRequest, type RequestOptions } from "node:http";
import { describe, expect, it } from "vitest";
import {
  createV1Harness,
  type HostMessage,
  settle,
  type V1Harness,
  v1Tool,
} from "../../testing/v1-harness.ts";
import { encodeFrame } from "../frame.ts";

describe("the door of a WebSocket host", () => {
  it.each([
    { what: "a page's upgrade", path: "/", headers: { origin: "http://page.example" }, status: 403 },
    { what: "a page's request", path: "/readyz", headers: { origin: "null", upgrade: "" }, status: 403 },
    { what: "an upgrade without the token", path: "/", headers: {}, status: 401 },
    { what: "an upgrade with another token", path: "/?token=other", headers: {}, status: 401 },
    { what: "an upgrade elsewhere", path: "/elsewhere?token=secret", headers: {}, status: 404 },
    {
      what: "a second socket that nobody waits for",
      path: `/bulk/${crypto.randomUUID()}?token=secret`,
      headers: {},
      status: 404,
    },
    { what: "the question whether it is there", path: "/readyz", headers: { upgrade: "" }, status: 200 },
    { what: "a plain request", path: "/", headers: { upgrade: "" }, status: 426 },
  ])("answers $what with $status", async ({ path, headers, status }) => {
    const { host } = createV1Harness();
    await using listening = await host.listenWebSockets({ host: "127.0.0.1", port: 0, token: "secret" });
    expect(await statusOf(`${listening.url}${path}`.replace("ws:", "http:"), headers)).toBe(status);
  });

  it.each([
    ["in a header", "", { authorization: "Bearer secret" }],
    ["in the query", "?token=secret", {}],
  ])("opens for the token %s, and says hello", async (_, query, headers) => {
    const { host } = createV1Harness();
    await using listening = await host.listenWebSockets({ host: "127.0.0.1", port: 0, token: "secret" });
    const client = await connect(`${listening.url}/${query}`, headers);
    client.send(hello([]));
    expect(await client.next()).toEqual({ type: "connection/ready", selectedVersion: 1, capabilities: [] });
  });

  it("closes its connections, and ends what is theirs, when it is disposed of", async () => {
    const harness = createV1Harness();
    const listening = await harness.host.listenWebSockets({ host: "::1", port: 0 });
    expect(listening.url).toMatch(/^ws:\/\/\[::1\]:\d+$/);
    const client = await connect(listening.url);
    await openSession(client, []);
    await listening[Symbol.asyncDispose]();
    await client.closed;
    expect(harness.runtime.stats().sessions).toBe(0);
  });

  it("does not wait for a hello for ever", async () => {
    const harness = createV1Harness();
    await using listening = await harness.host.listenWebSockets({ host: "127.0.0.1", port: 0 });
    const client = await connect(listening.url);
    await harness.clock.advance(10_100);
    await client.closed;
  });
});

describe("one socket", () => {
  it.each([
    ["a text", "{}"],
    ["a message without a prefix", new Uint8Array([1, 0])],
    ["a message that is longer than it says", new Uint8Array([1, 0, 0, 0, 0x7b, 0x7d])],
    ["a message that is shorter than it says", new Uint8Array([9, 0, 0, 0, 0x7b, 0x7d])],
  ])("is closed for %s", async (_, message) => {
    const harness = createV1Harness();
    await using listening = await harness.host.listenWebSockets({ host: "127.0.0.1", port: 0 });
    const client = await connect(listening.url);
    await openSession(client, []);
    client.sendRaw(message);
    await client.closed;
    await settle();
    expect(harness.runtime.stats().sessions).toBe(0);
  });

  it("carries every message, since no second one was asked for", async () => {
    const harness = createV1Harness();
    await using listening = await harness.host.listenWebSockets({ host: "127.0.0.1", port: 0 });
    const client = await connect(listening.url);
    await openSession(client, []);
    await startCell(harness, client);
    harness.engine.last.call("tool-1", "t");
    expect((await client.next()).request.type).toBe("tool/invoke");
    client.send(toolResult(1));
    while (harness.engine.last.settled.length === 0) await settle();
  });
});

describe("two sockets", () => {
  async function open() {
    const harness = createV1Harness();
    const listening = await harness.host.listenWebSockets({ host: "127.0.0.1", port: 0, token: "t" });
    const control = await connect(`${listening.url}/?token=t`);
    control.send(hello(["dual-websocket-v1"]));
    const ready = await control.next();
    expect(ready.capabilities).toEqual(["dual-websocket-v1"]);
    const bulkUrl = `${listening.url}/bulk/${ready.bulkConnectionToken}?token=t`;
    return { harness, listening, control, bulkUrl };
  }

  it("share the messages: large ones on the second, the rest on the first", async () => {
    const { harness, listening, control, bulkUrl } = await open();
    await using _ = listening;
    control.send(openMessage);
    const bulk = await connect(bulkUrl);
    expect((await control.next()).result.value.type).toBe("session/ready");
    await startCell(harness, control);
    const cell = harness.engine.last;
    cell.call("tool-1", "t");
    cell.listener.notified("n");
    expect((await bulk.next()).request.type).toBe("tool/invoke");
    expect((await control.next()).request.type).toBe("notification/send");
    bulk.send(toolResult(1));
    while (cell.settled.length === 0) await settle();
    cell.call("tool-2", "t");
    await bulk.next();
    cell.complete();
    expect(await bulk.next()).toEqual({ type: "delegate/cancel", id: 3 });
    control.send(notificationDelivered(2));
    expect((await control.next()).type).toBe("execute/initialResponse");
    expect((await control.next()).type).toBe("cell/closed");
  });

  it.each([
    ["a tool's result on the first", "control", toolResult(7)],
    [
      "an error on the first",
      "control",
      { type: "delegate/response", id: 7, result: { status: "error", message: "" } },
    ],
    ["a delivered notification on the second", "bulk", notificationDelivered(7)],
    ["an operation on the second", "bulk", { type: "operation/cancel", id: 1 }],
  ] as const)("are both closed for %s", async (_, lane, message) => {
    const { listening, control, bulkUrl } = await open();
    await using _host = listening;
    const bulk = await connect(bulkUrl);
    (lane === "bulk" ? bulk : control).send(message);
    await Promise.all([control.closed, bulk.closed]);
  });

  it.each(["control", "bulk"] as const)("are both closed when the client closes %s", async (lane) => {
    const { listening, control, bulkUrl, harness } = await open();
    await using _ = listening;
    const bulk = await connect(bulkUrl);
    control.send(openMessage);
    await control.next();
    (lane === "bulk" ? bulk : control).close();
    await Promise.all([control.closed, bulk.closed]);
    while (harness.runtime.stats().sessions > 0) await settle();
  });

  it("must be there within 10 s, and nothing is done before", async () => {
    const { harness, listening, control, bulkUrl } = await open();
    await using _ = listening;
    control.send(openMessage);
    await settle();
    expect(harness.runtime.stats().sessions).toBe(0);
    await harness.clock.advance(10_100);
    await control.closed;
    expect(await statusOf(bulkUrl.replace("ws:", "http:"), {})).toBe(404);
  });

  it("name each other once", async () => {
    const { listening, bulkUrl } = await open();
    await using _ = listening;
    await connect(bulkUrl);
    expect(await statusOf(bulkUrl.replace("ws:", "http:"), {})).toBe(404);
  });

  it("are given up when the first is closed before the second comes", async () => {
    const { listening, control, bulkUrl } = await open();
    await using _ = listening;
    control.close();
    await control.closed;
    let status = 101;
    for (let attempt = 0; status !== 404 && attempt < 3; attempt++) {
      status = await statusOf(bulkUrl.replace("ws:", "http:"), {});
    }
    expect(status).toBe(404);
  });
});

const openMessage = {
  type: "operation/request",
  id: 0,
  request: { method: "session/open", sessionId: "s1" },
};

function hello(optionalCapabilities: readonly string[]): object {
  return { type: "connection/hello", supportedVersions: [1], requiredCapabilities: [], optionalCapabilities };
}

function toolResult(id: number): object {
  return {
    type: "delegate/response",
    id,
    result: { status: "ok", value: { type: "tool/result", result: 1 } },
  };
}

function notificationDelivered(id: number): object {
  return {
    type: "delegate/response",
    id,
    result: { status: "ok", value: { type: "notification/delivered" } },
  };
}

interface Client {
  readonly send: (message: object) => void;
  readonly sendRaw: (message: string | Uint8Array<ArrayBuffer>) => void;
  readonly next: () => Promise<HostMessage>;
  readonly close: () => void;
  readonly closed: Promise<unknown>;
}

async function connect(url: string, headers: Record<string, string> = {}): Promise<Client> {
  const socket = new WebSocket(url, { headers } as unknown as string[]);
  socket.binaryType = "arraybuffer";
  const messages: HostMessage[] = [];
  let wake = (): void => {};
  socket.addEventListener("message", ({ data }) => {
    messages.push(
      JSON.parse(
        Buffer.from(data as ArrayBuffer)
          .subarray(4)
          .toString(),
      ),
    );
    wake();
  });
  const closed = once(socket, "close");
  await once(socket, "open");
  return {
    send: (message) => socket.send(new Uint8Array(encodeFrame(JSON.stringify(message)))),
    sendRaw: (message) => socket.send(message),
    async next() {
      while (messages.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return messages.shift();
    },
    close: () => socket.close(),
    closed,
  };
}

async function openSession(client: Client, capabilities: readonly string[]): Promise<void> {
  client.send(hello(capabilities));
  await client.next();
  client.send(openMessage);
  await client.next();
}

async function startCell({ engine }: V1Harness, client: Client): Promise<void> {
  const request = { tool_call_id: "c", enabled_tools: [v1Tool("t")], source: "" };
  client.send({
    type: "operation/request",
    id: 1,
    request: { method: "session/execute", sessionId: "s1", request },
  });
  await client.next();
  engine.last.listener.ready();
}

/** The status of an upgrade, or of a plain request when `upgrade` is empty. */
async function statusOf(
  url: string,
  { upgrade = "websocket", ...headers }: Record<string, string>,
): Promise<number> {
  const key = Buffer.alloc(16).toString("base64");
  const upgradeHeaders = {
    connection: "Upgrade",
    upgrade,
    "sec-websocket-version": "13",
    "sec-websocket-key": key,
  };
  const options: RequestOptions = { headers: { ...headers, ...(upgrade !== "" && upgradeHeaders) } };
  const request = httpRequest(url, options).end();
  return new Promise((resolve, reject) => {
    request.once("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once("upgrade", (_response, socket) => {
      socket.destroy();
      resolve(101);
    });
    request.once("error", reject);
  });
}
