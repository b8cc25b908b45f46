import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { CrabcodeClient } from "@trivium/crabcode-client";
import { openToolSession } from "@trivium/grok-tools-client";
import { createNodeTransport } from "@trivium/rpc/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServerProcess, startServerProcess } from "./server/server-process.ts";

/** A turn on a provider: the model asks for a file, gets it, and answers. The provider is a few lines of SSE here. */
describe("a conversation with a language model", () => {
  let provider: Server;
  let server: ServerProcess;
  const requests: { path: string; authorization: string; body: string }[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const path = request.url ?? "";
    const { authorization = "", "x-api-key": key = "" } = request.headers;
    requests.push({ path, authorization: authorization || String(key), body });
    const hasResult = body.includes("the secret is 42");
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(path.includes("/messages") ? anthropicAnswer(hasResult) : openAiAnswer(hasResult));
  }

  beforeAll(async () => {
    provider = createServer((request, response) => void answer(request, response));
    provider.listen(0, "127.0.0.1");
    await once(provider, "listening");
    const { port } = provider.address() as AddressInfo;
    const models = {
      chat: {
        provider: "router",
        format: "openai",
        baseUrl: `http://127.0.0.1:${port}/v1`,
        model: "m",
        apiKeyEnv: "CHAT_KEY",
      },
      claude: {
        provider: "anthropic",
        baseUrl: `http://127.0.0.1:${port}/v1`,
        model: "c",
        apiKeyEnv: "CLAUDE_KEY",
      },
    };
    server = await startServerProcess({
      parameters: ["--set", `models=${JSON.stringify(models)}`, "--set", "defaultModel=chat"],
      env: { CHAT_KEY: "chat-key", CLAUDE_KEY: "claude-key" },
    });
    await writeFile(join(server.workspace, "note.txt"), "the secret is 42\n");
  });

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    provider.close();
  });

  it("keeps the keys of its providers from commands, whatever the configuration inherits", async () => {
    await using guarded = await startServerProcess({
      parameters: [
        "--set",
        'models={"m":{"provider":"openai","model":"m","apiKeyEnv":"ODDLY_NAMED"}}',
        "--set",
        'tools.environment={"inherit":"all","ignoreDefaultExcludes":true}',
      ],
      env: {
        ODDLY_NAMED: "s3cret-1",
        OPENAI_API_KEY: "s3cret-2",
        TRIVIUM_TOKEN: "s3cret-3",
        HARMLESS: "seen",
      },
    });
    await using transport = createNodeTransport({ baseUrl: guarded.url, token: "s3cret-3" });
    const tools = await openToolSession(transport, {
      tools: [{ id: "GrokBuild:run_terminal_cmd", params: { enabled_background: false } }],
    });
    const { promptText } = await tools.callOrThrow("run_terminal_cmd", {
      command: "env",
      description: "look",
    });
    expect(promptText).toContain("HARMLESS=seen");
    expect(promptText).not.toContain("s3cret");
    const client = new CrabcodeClient(transport);
    await client.switchModel("offline");
    const turn = client.send("run env", { onPermission: () => "allow" });
    let result = "";
    for await (const event of turn) if (event.type === "tool_result") result += event.result;
    expect(result).toContain("HARMLESS=seen");
    expect(result).not.toContain("s3cret");
  });

  it.each([
    ["chat", "/v1/chat/completions", "Bearer chat-key"],
    ["claude", "/v1/messages", "claude-key"],
  ])("uses the profile %s, its key and the tools", async (profile, path, authorization) => {
    await using transport = createNodeTransport({ baseUrl: server.url });
    const client = new CrabcodeClient(transport);
    const session = { sessionId: `provider-${profile}` };
    for await (const { type } of client.subscribe({ ...session, create: true })) {
      if (type === "server.connected") break;
    }
    await client.switchModel(profile, session);
    requests.length = 0;
    const turn = client.send("what is the secret?", session);
    const tools: string[] = [];
    for await (const event of turn)
      if (event.type === "tool_result") tools.push(`${event.tool_name}: ${event.result}`);
    const { reason, text } = await turn.result();
    expect(tools).toEqual([expect.stringMatching(/^Read: .*the secret is 42/)]);
    expect({ reason, text }).toEqual({ reason: "end_turn", text: "It is 42." });
    // Titles of sessions are asked for beside the turns, without tools.
    const ofTurn = requests.filter(({ body }) => body.includes('"tools"'));
    expect(ofTurn).toHaveLength(2);
    for (const request of ofTurn) expect(request).toMatchObject({ path, authorization });
    expect(server.log()).not.toContain(authorization.replace("Bearer ", ""));
  });
});

function events(list: readonly (readonly [string, object])[]): string {
  return list
    .map(([name, data]) => `${name === "" ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`)
    .join("");
}

function openAiAnswer(hasResult: boolean): string {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    [
      "",
      {
        id: "1",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta, finish_reason }],
      },
    ] as const;
  const call = {
    index: 0,
    id: "call-1",
    type: "function",
    function: { name: "Read", arguments: '{"file_path":"note.txt"}' },
  };
  const chunks = hasResult
    ? [chunk({ role: "assistant", content: "It is " }), chunk({ content: "42." }), chunk({}, "stop")]
    : [chunk({ role: "assistant", tool_calls: [call] }), chunk({}, "tool_calls")];
  return `${events(chunks)}data: [DONE]\n\n`;
}

function anthropicAnswer(hasResult: boolean): string {
  const start = {
    type: "message",
    id: "m1",
    role: "assistant",
    model: "c",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const block = hasResult
    ? { type: "text", text: "" }
    : { type: "tool_use", id: "call-1", name: "Read", input: {} };
  const delta = hasResult
    ? { type: "text_delta", text: "It is 42." }
    : { type: "input_json_delta", partial_json: '{"file_path":"note.txt"}' };
  return events([
    ["message_start", { type: "message_start", message: start }],
    ["content_block_start", { type: "content_block_start", index: 0, content_block: block }],
    ["content_block_delta", { type: "content_block_delta", index: 0, delta }],
    ["content_block_stop", { type: "content_block_stop", index: 0 }],
    [
      "message_delta",
      {
        type: "message_delta",
        delta: { stop_reason: hasResult ? "end_turn" : "tool_use" },
        usage: { output_tokens: 2 },
      },
    ],
    ["message_stop", { type: "message_stop" }],
  ]);
}
