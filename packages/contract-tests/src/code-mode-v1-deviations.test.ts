import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Peer, toFrame } from "./code-mode-v1/peer.ts";
import { startV1Server, type V1Server } from "./code-mode-v1/v1-server.ts";

let server: V1Server;
beforeAll(async () => {
  server = await startV1Server();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

describe("where the original fails", () => {
  it.each([300, 4096])("all of %i tool calls in one turn are sent, in order, and answered", async (count) => {
    const source = `const all = await Promise.all(Array.from({ length: ${count} }, (_, i) => tools.echo(i)));
      text(String(all.every((value, i) => value === i)));`;
    const { peer, until, outcomes } = await open({ capabilities: ["delegate-capacity-4096"] });
    const inputs: unknown[] = [];
    peer.send([executeFrame(2, source)]);
    await until((message) => {
      if (message.type !== "delegate/request") return message.type === "cell/closed";
      const { input } = message.request?.invocation ?? {};
      inputs.push(input);
      const result = { status: "ok", value: { type: "tool/result", result: input } };
      peer.send([toFrame(JSON.stringify({ type: "delegate/response", id: message.id, result }))]);
      return false;
    });
    expect(inputs).toEqual(Array.from({ length: count }, (_, index) => index));
    expect(outcomes()).toMatchObject([{ content_items: [{ text: "true" }] }]);
    peer.close();
  });

  it("a program beyond its heap ends alone, and what its session has stored is still there", async () => {
    const { peer, until, outcomes } = await open({ limits: { maxHeapSizeBytes: 33_554_432 } });
    peer.send([executeFrame(2, "store('k', 1)")]);
    await until(({ type }) => type === "cell/closed");
    peer.send([executeFrame(3, "const a = []; for (;;) a.push(new Array(100_000).fill(1))")]);
    await until(({ type }) => type === "cell/closed");
    peer.send([executeFrame(4, "text(load('k'))")]);
    await until(({ type }) => type === "cell/closed");
    expect(outcomes().slice(1)).toMatchObject([
      { error_text: "exec runtime out of memory", content_items: [] },
      { error_text: null, content_items: [{ text: "1" }] },
    ]);
    peer.close();
  });
});

interface Message {
  readonly type: string;
  readonly id?: number;
  readonly request?: { readonly invocation?: { readonly input: unknown } };
  readonly result?: { readonly value?: { readonly Result?: object } };
}

/** A connection with an open session, and the way to wait for what the host says. */
async function open({
  capabilities = [],
  limits = {},
}: {
  capabilities?: readonly string[];
  limits?: object;
}) {
  const peer: Peer = server.connectStdio();
  const messages: Message[] = [];
  const unread: Message[] = [];
  let wake = (): void => {};
  peer.onPayload((payload) => {
    const message = JSON.parse(payload.toString()) as Message;
    messages.push(message);
    unread.push(message);
    wake();
  });
  const until = async (isLast: (message: Message) => boolean): Promise<void> => {
    for (;;) {
      const message = unread.shift();
      if (message !== undefined && isLast(message)) return;
      if (message !== undefined || unread.length > 0) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const hello = {
    type: "connection/hello",
    supportedVersions: [1],
    requiredCapabilities: [],
    optionalCapabilities: capabilities,
  };
  const request = { method: "session/open", sessionId: "s", cellExecutionLimits: limits };
  peer.send(
    [hello, { type: "operation/request", id: 1, request }].map((one) => toFrame(JSON.stringify(one))),
  );
  await until(({ type }) => type === "operation/response");
  const outcomes = () =>
    messages.flatMap(({ type, result }) => {
      const outcome = result?.value?.Result;
      return type === "execute/initialResponse" && outcome !== undefined ? [outcome] : [];
    });
  return { peer, until, outcomes };
}

function executeFrame(id: number, source: string): Buffer {
  const echo = { name: "echo", tool_name: { name: "echo" }, description: "", kind: "function" };
  const request = { tool_call_id: "c", enabled_tools: [echo], source, yield_time_ms: 60_000 };
  const body = { method: "session/execute", sessionId: "s", request };
  return toFrame(JSON.stringify({ type: "operation/request", id, request: body }));
}
