import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { CodeModeHost } from "@trivium/proto/code-mode";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { GrokToolsService } from "@trivium/proto/grok-tools";
import { describe, expect, inject, it } from "vitest";

const baseUrl = inject("serverUrl");

const transports: readonly [string, Transport][] = [
  ["gRPC-Web", createGrpcWebTransport({ baseUrl })],
  ["Connect", createConnectTransport({ baseUrl, useBinaryFormat: true })],
];

describe.each(transports)("a page over %s from another origin", (name, transport) => {
  it("calls a unary method of each service", async () => {
    expect(await createClient(CrabCodeService, transport).healthCheck({})).toMatchObject({ status: "ok" });
    expect((await createClient(GrokToolsService, transport).listTools({})).totalCount).toBeGreaterThan(0);
    await expect(
      createClient(CodeModeHost, transport).closeSession({
        sessionId: "00000000-0000-4000-8000-000000000000",
      }),
    ).rejects.toMatchObject({ rawMessage: expect.stringContaining("00000000") });
  });

  it("reads a server stream of each service", async () => {
    const types: string[] = [];
    for await (const { type } of createClient(CrabCodeService, transport).sendMessage({ text: "help" }))
      types.push(type);
    expect(types.at(-1)).toBe("turn_complete");

    for await (const { event } of createClient(CodeModeHost, transport).openSession({})) {
      expect(event.case).toBe("opened");
      break;
    }

    const tools = createClient(GrokToolsService, transport);
    const call = { headers: { "x-trivium-session": `browser-${name}` } };
    await tools.finalizeToolConfigRequest({ tools: [{ id: "GrokBuild:list_dir" }] }, call);
    const cases: (string | undefined)[] = [];
    for await (const { chunk } of tools.executeToolStream({ toolName: "list_dir", inputJson: "{}" }, call)) {
      cases.push(chunk.case);
    }
    expect(cases.at(-1)).toBe("finalResult");
  });
});
