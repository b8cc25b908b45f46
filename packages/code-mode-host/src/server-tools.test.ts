import { Code, createClient, createRouterTransport } from "@connectrpc/connect";
import { createCodeModeRuntime, type ServerTools } from "@trivium/code-mode-runtime";
import { ScriptedEngine } from "@trivium/code-mode-runtime/testing";
import { silentLogger } from "@trivium/core";
import { ManualClock, sequentialIds } from "@trivium/core/testing";
import { CodeModeHost } from "@trivium/proto/code-mode";
import { errorInterceptor } from "@trivium/rpc";
import { describe, expect, it } from "vitest";
import { codeModeService } from "./code-mode-service.ts";
import type { ServerToolsPort, ServerToolsRequest } from "./server-tools.ts";

interface Opening {
  readonly status: Code | undefined;
  /** What the response says. */
  readonly inForce: string | null;
  readonly requests: readonly ServerToolsRequest[];
  readonly disposedCount: number;
}

/** Opens a session with these headers and leaves it. */
async function open(
  headers: Record<string, string>,
  { isDefault = false, hasTools = true, isClosing = false } = {},
): Promise<Opening> {
  const runtime = createCodeModeRuntime({
    engine: new ScriptedEngine(),
    clock: new ManualClock(),
    ids: sequentialIds(),
    logger: silentLogger,
  });
  const requests: ServerToolsRequest[] = [];
  let disposedCount = 0;
  const tools: ServerTools = {
    namespace: "grok",
    definitions: () => [],
    call: () => Promise.reject(new Error("not called")),
    [Symbol.asyncDispose]() {
      disposedCount++;
      return Promise.resolve();
    },
  };
  const port: ServerToolsPort = {
    isDefault,
    async open(request) {
      requests.push(request);
      if (isClosing) await runtime[Symbol.asyncDispose]();
      return tools;
    },
  };
  const service = codeModeService({ runtime, serverTools: hasTools ? port : undefined });
  const client = createClient(
    CodeModeHost,
    createRouterTransport(service, { router: { interceptors: [errorInterceptor] } }),
  );
  let inForce: string | null = null;
  const onHeader = (response: Headers): void => {
    inForce = response.get("trivium-server-tools");
  };
  let status: Code | undefined;
  try {
    for await (const _ of client.openSession({}, { headers, onHeader })) break;
  } catch (thrown) {
    status = (thrown as { code: Code }).code;
  }
  await runtime[Symbol.asyncDispose]();
  return { status, inForce, requests, disposedCount };
}

describe("the tools of the server", () => {
  it.each([
    [{}, { isDefault: false }, null, []],
    [{}, { isDefault: true }, "grok", [{ isReadOnly: false }]],
    [{ "trivium-server-tools": "grok" }, {}, "grok", [{ isReadOnly: false }]],
    [{ "trivium-server-tools": "grok;read-only" }, {}, "grok;read-only", [{ isReadOnly: true }]],
    [{ "trivium-server-tools": "none" }, { isDefault: true }, "none", []],
    [{ "trivium-server-tools": "none" }, { hasTools: false }, "none", []],
    [{}, { hasTools: false }, null, []],
  ])("with %j and %j are %s", async (...row) => {
    const [headers, server, inForce, requests] = row;
    const opening = await open(headers, server);
    expect(opening).toMatchObject({ status: undefined, inForce, requests });
    expect(opening.disposedCount).toBe(requests.length);
  });

  it("may be those of a named session, with another to be asked", async () => {
    const headers = {
      "trivium-server-tools": "grok",
      "x-trivium-session": "tools",
      "trivium-permission-session": "people",
    };
    expect((await open(headers)).requests).toMatchObject([
      { toolSession: "tools", permissionSession: "people" },
    ]);
  });

  it.each([
    ["a value that is unknown", { "trivium-server-tools": "GROK" }, {}, Code.InvalidArgument],
    [
      "a server without them",
      { "trivium-server-tools": "grok" },
      { hasTools: false },
      Code.FailedPrecondition,
    ],
  ])("are refused for %s", async (...row) => {
    const [, headers, server, status] = row;
    expect(await open(headers, server)).toMatchObject({ status, requests: [] });
  });

  it("are let go when there is no session for them", async () => {
    const opening = await open({ "trivium-server-tools": "grok" }, { isClosing: true });
    expect(opening).toMatchObject({ status: Code.Unavailable, disposedCount: 1 });
  });
});
