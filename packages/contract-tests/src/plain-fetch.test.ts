import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServerProcess, startServerProcess } from "./server/server-process.ts";

/** Calls without any library: JSON over HTTP/1.1, as a shell script or a web page would. */
describe("plain fetch with JSON", () => {
  let server: ServerProcess;

  beforeAll(async () => {
    server = await startServerProcess();
  });

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  async function unary(
    method: string,
    message: object,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(`${server.url}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(message),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  /** Connect's streaming envelope: one byte of flags, four bytes of length, JSON. */
  async function* stream(method: string, message: object, headers: Record<string, string> = {}) {
    const payload = new TextEncoder().encode(JSON.stringify(message));
    const body = new Uint8Array(5 + payload.byteLength);
    new DataView(body.buffer).setUint32(1, payload.byteLength);
    body.set(payload, 5);
    const response = await fetch(`${server.url}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/connect+json", ...headers },
      body,
    });
    let pending = new Uint8Array();
    for await (const chunk of response.body ?? []) {
      pending = Uint8Array.from([...pending, ...chunk]);
      while (pending.byteLength >= 5) {
        const length = new DataView(pending.buffer).getUint32(1);
        if (pending.byteLength < 5 + length) break;
        const flags = pending[0] ?? 0;
        const value = JSON.parse(new TextDecoder().decode(pending.subarray(5, 5 + length))) as Record<
          string,
          unknown
        >;
        pending = pending.slice(5 + length);
        if ((flags & 2) !== 0) {
          expect(value["error"]).toBeUndefined();
          return;
        }
        yield value;
      }
    }
    throw new Error("the stream ended without its last frame");
  }

  it("calls a unary method of each service", async () => {
    expect((await unary("crabcode.CrabCodeService/HealthCheck", {})).body).toMatchObject({ status: "ok" });
    expect((await unary("xai.grok.tools.v1.GrokToolsService/ListTools", {})).body["tools"]).toBeInstanceOf(
      Array,
    );
    expect(
      await unary("codex.code_mode.v1.CodeModeHost/CloseSession", {
        sessionId: "00000000-0000-4000-8000-000000000000",
      }),
    ).toMatchObject({ status: 404, body: { code: "not_found" } });
  });

  it("reads a server stream of each service", async () => {
    const crabcode: unknown[] = [];
    for await (const event of stream("crabcode.CrabCodeService/SendMessage", { text: "help" }))
      crabcode.push(event);
    expect(crabcode.at(-1)).toMatchObject({ type: "turn_complete" });

    for await (const event of stream("codex.code_mode.v1.CodeModeHost/OpenSession", {})) {
      expect(event).toMatchObject({ opened: { sessionId: expect.any(String) } });
      break;
    }

    const session = { "x-trivium-session": "fetch" };
    await fetch(`${server.url}/xai.grok.tools.v1.GrokToolsService/FinalizeToolConfigRequest`, {
      method: "POST",
      headers: { "content-type": "application/json", ...session },
      body: JSON.stringify({ tools: [{ id: "GrokBuild:list_dir" }] }),
    });
    const chunks: unknown[] = [];
    const request = { toolName: "list_dir", inputJson: '{"target_directory":"."}' };
    for await (const chunk of stream(
      "xai.grok.tools.v1.GrokToolsService/ExecuteToolStream",
      request,
      session,
    )) {
      chunks.push(chunk);
    }
    expect(chunks.at(-1)).toMatchObject({ finalResult: { metadata: expect.any(Object) } });
  });

  it("shows a person what is served here, and health to probes", async () => {
    const page = await fetch(`${server.url}/`);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await page.text()).toContain("<title>Trivium</title>");
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(/^trivium_cell_workers \d+$/m);
  });

  it("shows a list of its services when it has no conversations", async () => {
    await using bare = await startServerProcess({ parameters: ["--set", 'services=["grok-tools"]'] });
    const text = await (await fetch(`${bare.url}/`)).text();
    expect(text).toContain("xai.grok.tools.v1.GrokToolsService");
    expect(text).not.toContain("crabcode.CrabCodeService");
  });

  it("says in JSON which value is wrong", async () => {
    const { status, body } = await unary("crabcode.CrabCodeService/RespondPermission", { toolUseId: 3 });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_argument", message: expect.stringContaining("tool_use_id") });
  });
});
