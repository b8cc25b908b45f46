import { existsSync } from "node:fs";
import { join } from "node:path";
import { Code, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { CodeModeSession } from "@trivium/code-mode-client";
import { openToolSession } from "@trivium/grok-tools-client";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { QuestionService } from "@trivium/proto/crabcode-questions";
import { SessionService } from "@trivium/proto/crabcode-sessions";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { protocols } from "./protocols.ts";
import { type ServerProcess, startServerProcess } from "./server/server-process.ts";
import { statusOf } from "./take.ts";

type Payload = Record<string, unknown>;

const rules = { ask: [{ tool: "run_terminal_cmd", command: "touch *" }] };

let server: ServerProcess;
let transport: Transport;
beforeAll(async () => {
  server = await startServerProcess({
    parameters: ["--set", `codeMode.serverToolRules=${JSON.stringify(rules)}`],
  });
  transport = createGrpcTransport({ baseUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

/** A client that watches a conversation, which it makes when there is none. */
class Watcher implements AsyncDisposable {
  readonly client = createClient(
    CrabCodeService,
    createConnectTransport({ baseUrl: server.url, httpVersion: "1.1" }),
  );
  readonly sessionId: string;
  readonly #abort = new AbortController();
  readonly #events: AsyncIterator<Payload>;

  constructor(sessionId: string) {
    this.sessionId = sessionId;
    this.#events = this.#read();
  }

  static async open(sessionId: string): Promise<Watcher> {
    const watcher = new Watcher(sessionId);
    await watcher.next("server.connected");
    return watcher;
  }

  /** The next event of a type. */
  async next(type: string): Promise<Payload> {
    for (;;) {
      const { done, value } = await this.#events.next();
      if (done === true) throw new Error(`the subscription ended before ${type}`);
      if (value["type"] === type) return value;
    }
  }

  answer(question: Payload, allowed: boolean, alwaysAllow = false): Promise<unknown> {
    const toolUseId = String(question["tool_use_id"]);
    return this.client.respondPermission({ sessionId: this.sessionId, toolUseId, allowed, alwaysAllow });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#events.next().catch(() => {
      // The subscription was given up.
    });
  }

  async *#read(): AsyncGenerator<Payload> {
    const options = { headers: { "crabcode-create-session": "1" }, signal: this.#abort.signal };
    const { sessionId } = this;
    for await (const { payloadJson } of this.client.subscribeEvents({ sessionId }, options)) {
      yield JSON.parse(payloadJson) as Payload;
    }
  }
}

/** Runs `touch` in a cell of a session that asks in a conversation; gives what its promise comes to. */
function touch(session: CodeModeSession, file: string): Promise<string[]> {
  const source = `text(await tools.grok__run_terminal_cmd({ command: "touch ${file}" }).then(() => "done", (why) => why))`;
  return session
    .execute(source, { yieldTimeMs: 60_000 })
    .then(({ items }) => items.map((item) => (item.type === "text" ? item.text : item.type)));
}

describe.each(protocols)("a code session that asks in a conversation, over $name", (protocol) => {
  it("has its calls allowed, always allowed and denied by another client", async () => {
    const name = protocol.name.replaceAll(/\W/g, "-");
    await using watcher = await Watcher.open(`asked-${name}`);
    await using session = await CodeModeSession.open(protocol.createTransport(server.url), {
      serverTools: "grok",
      permissionSession: watcher.sessionId,
    });
    const denied = touch(session, `denied-${name}`);
    const first = await watcher.next("permission_request");
    expect(first).toMatchObject({
      tool_name: "run_terminal_cmd",
      tool_input: { command: `touch denied-${name}` },
      permission_key: "run_terminal_cmd(touch)",
      agent_id: null,
      tool_use_id: `${session.sessionId}/1/tool-1`,
    });
    await watcher.answer(first, false);
    expect(await denied).toEqual([expect.stringMatching(/^Permission denied: .*refused by the user/)]);
    expect(existsSync(join(server.workspace, `denied-${name}`))).toBe(false);

    const allowed = touch(session, `allowed-${name}`);
    await watcher.answer(await watcher.next("permission_request"), true, true);
    expect(await allowed).toEqual(["done"]);
    expect(existsSync(join(server.workspace, `allowed-${name}`))).toBe(true);

    expect(await touch(session, `granted-${name}`)).toEqual(["done"]);
    await watcher.client.switchMode({ sessionId: watcher.sessionId, mode: "plan" });
    expect(await touch(session, `planned-${name}`)).toEqual([
      expect.stringMatching(/^Permission denied: .*plan mode/),
    ]);
  });
});

describe("a conversation that is asked", () => {
  it("keeps a question for clients that come later, and takes it back with the code session", async () => {
    const first = await Watcher.open("late");
    const session = await CodeModeSession.open(transport, { serverTools: "grok", permissionSession: "late" });
    const running = touch(session, "never").catch((error: unknown) => error);
    const question = await first.next("permission_request");
    await first[Symbol.asyncDispose]();
    await using second = await Watcher.open("late");
    expect(await second.next("permission_request")).toMatchObject({
      tool_use_id: question["tool_use_id"],
      replayed: true,
    });
    await session.close();
    expect(await second.next("permission_response")).toMatchObject({
      tool_use_id: question["tool_use_id"],
      allowed: false,
      resolution: "cancelled",
    });
    await running;
    expect(await statusOf(second.answer(question, true))).toMatchObject({ code: Code.FailedPrecondition });
    expect(existsSync(join(server.workspace, "never"))).toBe(false);
  });

  it("lists a question, and refuses its call when it is closed meanwhile", async () => {
    await using watcher = await Watcher.open("closes");
    await using session = await CodeModeSession.open(transport, {
      serverTools: "grok",
      permissionSession: "closes",
    });
    const running = touch(session, "unanswered");
    const question = await watcher.next("permission_request");
    const toolUseId = String(question["tool_use_id"]);
    const { questions } = await createClient(QuestionService, transport).listQuestions({
      sessionId: "closes",
    });
    expect(questions).toMatchObject([{ toolUseId, toolName: "run_terminal_cmd", kind: 1, agentPath: [] }]);
    await createClient(SessionService, transport).closeSession({ sessionId: "closes", interrupt: true });
    expect(await running).toEqual([expect.stringMatching(/^Permission denied: .*has closed/)]);
    expect(await watcher.next("permission_response")).toMatchObject({ resolution: "cancelled" });
    expect(existsSync(join(server.workspace, "unanswered"))).toBe(false);

    await using again = await Watcher.open("closes");
    const next = touch(session, "answered");
    await again.answer(await again.next("permission_request"), true);
    expect(await next).toEqual(["done"]);
  });

  it("is one that is there", async () => {
    const options = { serverTools: "grok", permissionSession: "nobody" } as const;
    await expect(CodeModeSession.open(transport, options)).rejects.toMatchObject({ kind: "notFound" });
    const tools = ["GrokBuild:ask_user_question"];
    const config = { tools, permissionSession: "nobody", sessionId: "unbound" };
    await expect(openToolSession(transport, config)).rejects.toMatchObject({ kind: "notFound" });
    const { permissionSession: _, ...unbound } = config;
    await openToolSession(transport, unbound);
  });

  it("is not there on a server without conversations", async () => {
    await using alone = await startServerProcess({
      parameters: ["--set", "services=code-mode,grok-tools"],
    });
    const over = createGrpcTransport({ baseUrl: alone.url });
    const options = { serverTools: "grok", permissionSession: "nobody" } as const;
    await expect(CodeModeSession.open(over, options)).rejects.toMatchObject({ kind: "notFound" });
    const config = { tools: ["GrokBuild:ask_user_question"], permissionSession: "nobody" };
    await expect(openToolSession(over, config)).rejects.toMatchObject({ kind: "notFound" });
  });
});

describe("questions of tools to a conversation", () => {
  const questions = [
    {
      question: "Which colour?",
      options: [
        { label: "Red", description: "like fire" },
        { label: "Blue", description: "" },
      ],
    },
    {
      question: "Which size?",
      options: [
        { label: "S", description: "" },
        { label: "L", description: "" },
      ],
    },
  ];

  async function choose(watcher: Watcher, label: string): Promise<Payload> {
    const question = await watcher.next("choice_request");
    const toolUseId = String(question["tool_use_id"]);
    await watcher.client.respondChoice({ sessionId: watcher.sessionId, toolUseId, selected: [label] });
    return question;
  }

  it("of a tool session that is bound to it are asked one by one", async () => {
    await using watcher = await Watcher.open("chooses");
    const session = await openToolSession(transport, {
      tools: ["GrokBuild:ask_user_question"],
      permissionSession: watcher.sessionId,
      sessionId: "bound",
    });
    const running = session.callOrThrow("ask_user_question", { questions }, { callId: "c1" });
    expect(await choose(watcher, "Blue")).toMatchObject({
      question: "Which colour?\n- Red: like fire",
      options: ["Red", "Blue"],
      multiple: false,
      tool_use_id: "bound/c1/1",
    });
    expect(await choose(watcher, "L")).toMatchObject({
      question: "Which size?",
      tool_use_id: "bound/c1/2",
    });
    const { promptText } = await running;
    expect(promptText).toContain('"Which colour?"="Blue"');
    expect(promptText).toContain('"Which size?"="L"');
  });

  it("of a program are asked there too", async () => {
    await using watcher = await Watcher.open("program");
    await openToolSession(transport, { tools: ["GrokBuild:ask_user_question"], sessionId: "plain" });
    await using session = await CodeModeSession.open(transport, {
      serverTools: "grok",
      toolSession: "plain",
      permissionSession: watcher.sessionId,
    });
    const asked = JSON.stringify({ questions: questions.slice(1) });
    const running = session.execute(`text((await tools.grok__ask_user_question(${asked})).text)`, {
      yieldTimeMs: 60_000,
    });
    await choose(watcher, "S");
    expect((await running).items).toMatchObject([{ text: expect.stringContaining('"Which size?"="S"') }]);
  });
});
