import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Client, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { QuestionKind, QuestionService } from "@trivium/proto/crabcode-questions";
import { MessageOrigin, MessageRole, SessionService, SessionState } from "@trivium/proto/crabcode-sessions";
import { ErrorInfoSchema } from "@trivium/proto/error-details";
import { describe, expect, it } from "vitest";
import { questionService } from "./question-service.ts";
import { sessionService } from "./session-service.ts";
import { type LiveService, liveService, StreamReader, statusOf } from "./testing/live-service.ts";

interface Sessions extends LiveService {
  readonly sessions: Client<typeof SessionService>;
  readonly questions: Client<typeof QuestionService>;
}

async function liveSessions(script?: readonly object[]): Promise<Sessions> {
  const live = await liveService(script);
  const deps = { runtime: live.runtime };
  const sessions = createClient(SessionService, createRouterTransport(sessionService(deps)));
  const questions = createClient(QuestionService, createRouterTransport(questionService(deps)));
  return { ...live, sessions, questions };
}

const bash = { id: "c1", name: "Bash", input: { command: "ls" } };
const ask = { id: "c2", name: "AskUser", input: { question: "Which?", options: ["a", "b"], multiple: true } };

describe("SessionService", () => {
  it("makes, finds, names, archives, gives back and removes a session, and says which in the header", async () => {
    await using live = await liveSessions();
    const { sessions, cwd } = live;
    const seen: (string | null)[] = [];
    const options = { onHeader: (header: Headers) => void seen.push(header.get("crabcode-session-id")) };
    const { session } = await sessions.createSession({ sessionId: "s", title: "T", mode: "plan" }, options);
    expect(session).toMatchObject({
      sessionId: "s",
      title: "T",
      cwd,
      state: SessionState.IDLE,
      mode: "plan",
      modelProfile: "offline",
      messageCount: 0,
      headSeq: 0n,
      tokensUsed: 0n,
      defaultSession: false,
    });
    expect(session?.epoch).not.toBe("");
    expect(session?.gitBranch).toBeUndefined();
    expect(session?.createdAt && timestampDate(session.createdAt).getTime()).toBeGreaterThan(0);
    expect((await sessions.getSession({ sessionId: "s" }, options)).session).toEqual(session);
    expect((await sessions.renameSession({ sessionId: "s", title: "U" }, options)).session?.title).toBe("U");
    const archived = await sessions.archiveSession({ sessionId: "s" }, options);
    expect(archived.session).toMatchObject({ state: SessionState.ARCHIVED, mode: "agent" });
    const back = await sessions.unarchiveSession({ sessionId: "s" }, options);
    expect(back.session).toMatchObject({ state: SessionState.STORED });
    const resumed = await sessions.resumeSession({ sessionId: "s" }, options);
    expect(resumed).toMatchObject({ stoppedAgentCount: 0, turnRecovered: false });
    expect(resumed.session).toMatchObject({ state: SessionState.IDLE });
    await sessions.closeSession({ sessionId: "s" }, options);
    await sessions.archiveSession({ sessionId: "s" }, options);
    await sessions.deleteSession({ sessionId: "s" }, options);
    expect(seen).toEqual(Array.from({ length: 9 }, () => "s"));
    expect(await statusOf(sessions.getSession({ sessionId: "s" }))).toEqual({
      code: "NotFound",
      reason: "SESSION_NOT_FOUND",
    });
  });

  it("joins a repeated CreateSession through its key", async () => {
    await using live = await liveSessions();
    const headers = { "idempotency-key": "k" };
    const first = await live.sessions.createSession({}, { headers });
    let header = new Headers();
    const again = await live.sessions.createSession(
      {},
      { headers, onHeader: (value) => void (header = value) },
    );
    expect(again).toEqual(first);
    expect(header.get("trivium-idempotent-replay")).toBe("1");
    const other = live.sessions.createSession({ title: "x" }, { headers });
    expect(await statusOf(other)).toEqual({ code: "InvalidArgument", reason: "IDEMPOTENCY_MISMATCH" });
  });

  it("lists sessions by state in pages", async () => {
    await using live = await liveSessions();
    const { sessions } = live;
    for (const sessionId of ["a", "b"]) await sessions.createSession({ sessionId });
    await sessions.archiveSession({ sessionId: "b" });
    const all = { states: [SessionState.IDLE, SessionState.ARCHIVED], pageSize: 1 };
    const first = await sessions.listSessions(all);
    expect(first).toMatchObject({ totalSize: 2n });
    const second = await sessions.listSessions({ ...all, pageToken: first.nextPageToken });
    expect(second.nextPageToken).toBe("");
    expect([...first.sessions, ...second.sessions].map(({ sessionId }) => sessionId).sort()).toEqual([
      "a",
      "b",
    ]);
    expect((await sessions.listSessions({ cwd: "/nowhere" })).totalSize).toBe(0n);
    expect((await sessions.listSessions({ query: "nothing" })).totalSize).toBe(0n);
  });

  it("shows a history with its blocks", async () => {
    await using live = await liveSessions([
      { thinking: "hm", text: "ok", tool_calls: [bash] },
      { text: "done" },
    ]);
    const { client, sessions, runtime } = live;
    const turn = new StreamReader((options) => client.sendMessage({ text: "go" }, options));
    const { session_id: sessionId } = await turn.find({ type: "permission_request" });
    await runtime.respondPermission({ sessionId: String(sessionId), toolUseId: "c1", isAllowed: true });
    await turn.ended;
    const { messages, totalSize } = await sessions.listMessages({});
    expect(totalSize).toBe(4n);
    expect(messages.map(({ role, index, origin }) => ({ role, index, origin }))).toEqual([
      { role: MessageRole.USER, index: 0, origin: MessageOrigin.UNSPECIFIED },
      { role: MessageRole.ASSISTANT, index: 1, origin: MessageOrigin.UNSPECIFIED },
      { role: MessageRole.USER, index: 2, origin: MessageOrigin.UNSPECIFIED },
      { role: MessageRole.ASSISTANT, index: 3, origin: MessageOrigin.UNSPECIFIED },
    ]);
    expect(messages.flatMap(({ blocks }) => blocks.map(({ block }) => block))).toMatchObject([
      { case: "text", value: "go" },
      { case: "thinking", value: "hm" },
      { case: "text", value: "ok" },
      { case: "toolUse", value: { toolUseId: "c1", toolName: "Bash", inputJson: '{"command":"ls"}' } },
      {
        case: "toolResult",
        value: { toolUseId: "c1", error: false, content: expect.stringContaining("ran ls") },
      },
      { case: "text", value: "done" },
    ]);
    const [first] = messages;
    expect(first?.messageId).toMatch(/^[0-9a-f-]{36}$/);
    expect(first?.operationId).toMatch(/^[0-9a-f]{32}$/);
    expect(first?.replyToMessageId).toBeUndefined();
    expect(first?.createdAt && timestampDate(first.createdAt).getTime()).toBeGreaterThan(0);
    const page = await sessions.listMessages({ newestFirst: true, pageSize: 1, projected: true });
    expect(page.messages).toMatchObject([{ index: 3 }]);
  });

  it("marks a message that was cut short, interrupted by InterruptTurn", async () => {
    await using live = await liveSessions([{ text: ["half", " done"], hold: "go", hold_after_chunks: 1 }]);
    const { client, sessions } = live;
    expect(await sessions.interruptTurn({})).toMatchObject({ interrupted: false, operationId: "" });
    const turn = new StreamReader((options) => client.sendMessage({ text: "x" }, options));
    const { operation_id: operationId } = await turn.find({ type: "stream_text" });
    expect(await sessions.interruptTurn({ operationId: "other" })).toMatchObject({ interrupted: false });
    expect(await sessions.interruptTurn({})).toMatchObject({ interrupted: true, operationId });
    const { messages } = await sessions.listMessages({});
    expect(messages.at(-1)).toMatchObject({ role: MessageRole.ASSISTANT, origin: MessageOrigin.PARTIAL });
  });

  it("lists the tools of the main loop and of a type of agents", async () => {
    await using live = await liveSessions();
    const { tools } = await live.sessions.listSessionTools({});
    const read = tools.find(({ name }) => name === "Read");
    expect(read).toMatchObject({ readOnly: true, concurrencySafe: true, enabled: true, source: "builtin" });
    expect(JSON.parse(read?.inputSchemaJson ?? "")).toMatchObject({ type: "object" });
    const explore = await live.sessions.listSessionTools({ subagentType: "explore" });
    expect(explore.tools.every(({ readOnly }) => readOnly)).toBe(true);
  });

  it("says why it refuses, in the domain of our services", async () => {
    await using live = await liveSessions([{ text: "a", hold: "go" }]);
    const { client, sessions } = live;
    await sessions.createSession({ sessionId: "s" });
    const turn = new StreamReader((options) => client.sendMessage({ text: "x", sessionId: "s" }, options));
    await turn.find({ type: "stream_mode" });
    const refusals: [() => Promise<unknown>, string, string][] = [
      [() => sessions.createSession({ sessionId: "s" }), "AlreadyExists", "SESSION_EXISTS"],
      [() => sessions.createSession({ sessionId: "/" }), "InvalidArgument", "SESSION_ID_INVALID"],
      [() => sessions.createSession({ mode: "x" }), "InvalidArgument", "MODE_INVALID"],
      [() => sessions.createSession({ cwd: "x" }), "InvalidArgument", "FIELD_INVALID"],
      [() => sessions.createSession({ cwd: "/" }), "PermissionDenied", "CWD_FORBIDDEN"],
      [() => sessions.createSession({ modelProfile: "x" }), "InvalidArgument", "PROFILE_NOT_FOUND"],
      [() => sessions.createSession({ modelProfile: "keyless" }), "FailedPrecondition", "PROFILE_UNUSABLE"],
      [() => sessions.getSession({ sessionId: "no" }), "NotFound", "SESSION_NOT_FOUND"],
      [() => sessions.listSessions({ pageToken: "x" }), "InvalidArgument", "PAGE_TOKEN_INVALID"],
      [() => sessions.listSessions({ pageSize: -1 }), "InvalidArgument", "FIELD_INVALID"],
      [
        () => sessions.listSessions({ states: [SessionState.UNSPECIFIED] }),
        "InvalidArgument",
        "FIELD_INVALID",
      ],
      [() => sessions.resumeSession({}), "InvalidArgument", "FIELD_INVALID"],
      [() => sessions.renameSession({ sessionId: "s", title: " " }), "InvalidArgument", "FIELD_INVALID"],
      [() => sessions.archiveSession({ sessionId: "s" }), "FailedPrecondition", "SESSION_BUSY"],
      [() => sessions.closeSession({ sessionId: "s" }), "FailedPrecondition", "SESSION_BUSY"],
      [() => sessions.deleteSession({ sessionId: "s" }), "FailedPrecondition", "NOT_ARCHIVED"],
      [() => sessions.unarchiveSession({ sessionId: "no" }), "NotFound", "SESSION_NOT_FOUND"],
      [() => sessions.listMessages({ sessionId: "no" }), "NotFound", "SESSION_NOT_FOUND"],
      [() => sessions.listMessages({ sessionId: "s", agentId: "no" }), "NotFound", "AGENT_NOT_FOUND"],
      [() => sessions.interruptTurn({ sessionId: "no" }), "NotFound", "SESSION_NOT_FOUND"],
      [() => sessions.compactSession({}), "FailedPrecondition", "NOTHING_TO_COMPACT"],
      [() => sessions.compactSession({ sessionId: "no" }), "NotFound", "SESSION_NOT_FOUND"],
      [() => sessions.listSessionTools({ subagentType: "x" }), "InvalidArgument", "SUBAGENT_TYPE_UNKNOWN"],
    ];
    for (const [call, code, reason] of refusals) expect(await statusOf(call())).toEqual({ code, reason });
    const refused = await sessions
      .renameSession({ sessionId: "s", title: " " })
      .catch((error: unknown) => ConnectError.from(error));
    expect(refused instanceof ConnectError && refused.findDetails(ErrorInfoSchema)).toMatchObject([
      { domain: "trivium", reason: "FIELD_INVALID", metadata: { field: "title" } },
    ]);
    await sessions.closeSession({ sessionId: "s", interrupt: true });
    expect((await turn.ended)?.code).toBeUndefined();
    const closing = live.runtime.close();
    expect(await statusOf(sessions.createSession({}))).toEqual({
      code: "Unavailable",
      reason: "SHUTTING_DOWN",
    });
    await closing;
  });
});

describe("QuestionService", () => {
  it("lists both kinds with everything that an answer needs", async () => {
    await using live = await liveSessions([{ tool_calls: [bash] }, { agent: 1, tool_calls: [ask] }]);
    const { client, questions } = live;
    const turn = new StreamReader((options) => client.sendMessage({ text: "go" }, options));
    const asked = await turn.find({ type: "permission_request" });
    const sessionId = String(asked["session_id"]);
    const bus = new StreamReader((options) => client.subscribeEvents({ sessionId }, options));
    await bus.find({ type: "server.connected" });
    const { agentId } = await client.spawnAgent({ prompt: "p" });
    await bus.find({ type: "choice_request" });
    const { questions: both, nextPageToken } = await questions.listQuestions({});
    expect(nextPageToken).toBe("");
    expect(both).toMatchObject([
      {
        sessionId,
        toolUseId: "c1",
        kind: QuestionKind.PERMISSION,
        toolName: "Bash",
        toolInputJson: '{"command":"ls"}',
        permissionKey: "Bash(ls)",
        requestKind: "tool",
        seq: BigInt(Number(asked["seq"])),
        epoch: asked["epoch"],
        agentPath: [],
      },
      {
        sessionId,
        toolUseId: "c2",
        agentId,
        kind: QuestionKind.CHOICE,
        toolName: "AskUser",
        question: "Which?",
        options: ["a", "b"],
        multiple: true,
        agentPath: [agentId],
      },
    ]);
    const [permission] = both;
    const expiresAt = permission?.expiresAt && timestampDate(permission.expiresAt).toISOString();
    expect(expiresAt).toBe(asked["expires_at"]);
    expect(permission?.askedAt && timestampDate(permission.askedAt).toISOString()).toBe(asked["ts"]);
    const choices = await questions.listQuestions({ sessionId: "", kind: QuestionKind.CHOICE });
    expect(choices.questions.map(({ toolUseId }) => toolUseId)).toEqual(["c2"]);
    expect(await statusOf(questions.listQuestions({ sessionId: "no" }))).toEqual({
      code: "NotFound",
      reason: "SESSION_NOT_FOUND",
    });
    expect(await statusOf(questions.listQuestions({ pageToken: "x" }))).toMatchObject({
      reason: "PAGE_TOKEN_INVALID",
    });
    bus.cancel();
    turn.cancel();
  });
});
