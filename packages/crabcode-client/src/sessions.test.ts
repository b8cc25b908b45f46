import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createRouterTransport, type ServiceImpl } from "@connectrpc/connect";
import { QuestionKind, QuestionService } from "@trivium/proto/crabcode-questions";
import {
  MessageOrigin,
  MessageRole,
  MessageSchema,
  SessionSchema,
  SessionService,
  SessionState,
} from "@trivium/proto/crabcode-sessions";
import { ErrorInfoSchema } from "@trivium/proto/error-details";
import { describe, expect, it } from "vitest";
import { CrabcodeClient } from "./crabcode-client.ts";
import { crabcodeErrorReason } from "./error-reason.ts";

const session = create(SessionSchema, {
  sessionId: "s",
  title: "T",
  cwd: "/w",
  state: SessionState.BUSY,
  mode: "agent",
  createdAt: timestampFromMs(1000),
  updatedAt: timestampFromMs(2000),
  epoch: "ep",
  headSeq: 17n,
  tokensUsed: 5n,
  defaultSession: true,
});

describe("sessions of a client", () => {
  it("come with numbers, dates and names of states", async () => {
    const { sessions } = connected({ getSession: () => ({ session }) });
    expect(await sessions.get()).toEqual({
      sessionId: "s",
      title: "T",
      cwd: "/w",
      state: "busy",
      mode: "agent",
      modelProfile: "",
      createdAt: new Date(1000),
      updatedAt: new Date(2000),
      messageCount: 0,
      activeAgentCount: 0,
      pendingQuestionCount: 0,
      epoch: "ep",
      headSeq: 17,
      firstUserMessage: "",
      tokensUsed: 5,
      gitBranch: undefined,
      isDefault: true,
    });
  });

  it("are made with a key of the call's own", async () => {
    const keys: (string | null)[] = [];
    const { sessions } = connected({
      createSession: (request, { requestHeader }) => {
        keys.push(requestHeader.get("idempotency-key"));
        expect(request).toMatchObject({ title: "T", cwd: "", mode: "plan" });
        return { session };
      },
    });
    await sessions.create({ title: "T", mode: "plan" });
    await sessions.create({ title: "T", mode: "plan", idempotencyKey: "mine" });
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), "mine"]);
  });

  it("are named, archived, closed and removed by their id", async () => {
    const calls: string[] = [];
    const note = (name: string) => (request: { sessionId: string; interrupt?: boolean; title?: string }) => {
      calls.push([name, request.sessionId, request.interrupt ?? request.title ?? ""].join(" "));
      return { session };
    };
    const { sessions } = connected({
      renameSession: note("rename"),
      archiveSession: note("archive"),
      unarchiveSession: note("unarchive"),
      closeSession(request) {
        note("close")(request);
        return {};
      },
      deleteSession(request) {
        note("delete")(request);
        return {};
      },
      resumeSession: (request) => ({ ...note("resume")(request), stoppedAgentCount: 2, turnRecovered: true }),
    });
    await sessions.rename("s", "U");
    await sessions.archive("s", { interrupt: true });
    await sessions.unarchive("s");
    await sessions.close("s");
    await sessions.delete("s");
    expect(await sessions.resume("s")).toMatchObject({ stoppedAgentCount: 2, isTurnRecovered: true });
    expect(calls).toEqual([
      "rename s U",
      "archive s true",
      "unarchive s ",
      "close s false",
      "delete s ",
      "resume s ",
    ]);
  });

  it("are listed page by page, all of them in one go", async () => {
    const { sessions } = connected({
      listSessions: ({ pageToken, states, query }) => {
        expect({ states, query }).toEqual({ states: [SessionState.IDLE, SessionState.BUSY], query: "login" });
        const next = { "": "p2", p2: "p3", p3: "" }[pageToken] ?? "";
        return { sessions: pageToken === "p2" ? [] : [session], nextPageToken: next, totalSize: 2n };
      },
    });
    const options = { states: ["idle", "busy"] as const, query: "login" };
    expect(await sessions.list(options)).toMatchObject({ nextPageToken: "p2", totalSize: 2 });
    const all: string[] = [];
    for await (const { sessionId } of sessions.all(options)) all.push(sessionId);
    expect(all).toEqual(["s", "s"]);
  });

  it("have messages with typed blocks", async () => {
    const message = create(MessageSchema, {
      messageId: "m",
      role: MessageRole.ASSISTANT,
      origin: MessageOrigin.PARTIAL,
      createdAt: timestampFromMs(1),
      index: 3,
      blocks: [
        { block: { case: "text", value: "t" } },
        { block: { case: "thinking", value: "h" } },
        { block: { case: "toolUse", value: { toolUseId: "c", toolName: "Read", inputJson: '{"a":1}' } } },
        { block: { case: "toolUse", value: { toolUseId: "c", toolName: "Read", inputJson: "{" } } },
        { block: { case: "toolResult", value: { toolUseId: "c", content: "r", error: true } } },
        { block: { case: "image", value: { mediaType: "image/png", data: new Uint8Array([1]) } } },
        {},
      ],
    });
    const { sessions } = connected({
      listMessages: ({ agentId, newestFirst, projected, pageToken }) => {
        expect({ agentId, newestFirst, projected }).toEqual({
          agentId: "a",
          newestFirst: true,
          projected: true,
        });
        return { messages: [message], nextPageToken: pageToken === "" ? "p" : "", totalSize: 2n };
      },
    });
    const options = { sessionId: "s", agentId: "a", newestFirst: true, projected: true };
    const page = await sessions.listMessages(options);
    expect(page.messages).toEqual([
      {
        messageId: "m",
        role: "assistant",
        origin: "partial",
        createdAt: new Date(1),
        replyToMessageId: undefined,
        operationId: undefined,
        index: 3,
        blocks: [
          { type: "text", text: "t" },
          { type: "thinking", text: "h" },
          { type: "tool-use", toolUseId: "c", toolName: "Read", input: { a: 1 } },
          { type: "tool-use", toolUseId: "c", toolName: "Read", input: undefined },
          { type: "tool-result", toolUseId: "c", content: "r", isError: true },
          { type: "image", mediaType: "image/png", data: new Uint8Array([1]) },
          { type: "unknown" },
        ],
      },
    ]);
    const all: string[] = [];
    for await (const { messageId } of sessions.messages(options)) all.push(messageId);
    expect(all).toEqual(["m", "m"]);
  });

  it("are interrupted and compacted, and tell their tools", async () => {
    const { sessions } = connected({
      interruptTurn: ({ operationId }) =>
        operationId === "no" ? { interrupted: false } : { interrupted: true, operationId: "op" },
      compactSession: ({ instructions }) => ({
        messageCountBefore: 9,
        messageCountAfter: instructions.length,
      }),
      listSessionTools: ({ subagentType }) => ({
        tools: [
          { name: subagentType, inputSchemaJson: '{"type":"object"}', enabled: true, source: "builtin" },
        ],
      }),
    });
    expect(await sessions.interruptTurn({ sessionId: "s" })).toBe("op");
    expect(await sessions.interruptTurn({ operationId: "no" })).toBeUndefined();
    expect(await sessions.compact({ instructions: "abc" })).toEqual({
      messageCountBefore: 9,
      messageCountAfter: 3,
    });
    expect(await sessions.listTools({ subagentType: "explore" })).toEqual([
      {
        name: "explore",
        description: "",
        inputSchema: { type: "object" },
        isReadOnly: false,
        isConcurrencySafe: false,
        isEnabled: true,
        source: "builtin",
      },
    ]);
  });

  it("say why they refuse", async () => {
    const { sessions } = connected({
      deleteSession: () => {
        const value = { reason: "NOT_ARCHIVED", domain: "trivium" };
        throw new ConnectError("no", Code.FailedPrecondition, undefined, [{ desc: ErrorInfoSchema, value }]);
      },
    });
    const error: unknown = await sessions.delete("s").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: "failedPrecondition" });
    expect(crabcodeErrorReason(error)).toBe("NOT_ARCHIVED");
  });
});

describe("questions of a client", () => {
  it("are permissions and choices, and nothing of a newer server", async () => {
    const asked = { sessionId: "s", toolUseId: "c", askedAt: timestampFromMs(1), seq: 3n, epoch: "ep" };
    const transport = createRouterTransport(({ service }) => {
      service(QuestionService, {
        listQuestions: ({ sessionId, kind }) => {
          expect({ sessionId, kind }).toEqual({ sessionId: undefined, kind: QuestionKind.CHOICE });
          return {
            questions: [
              {
                ...asked,
                kind: QuestionKind.PERMISSION,
                toolName: "Bash",
                toolInputJson: '{"command":"ls"}',
              },
              { ...asked, kind: QuestionKind.CHOICE, question: "Which?", options: ["a"], agentPath: ["x"] },
              { ...asked, kind: 99 as QuestionKind },
            ],
            nextPageToken: "p",
          };
        },
      });
    });
    const list = await new CrabcodeClient(transport).questions.list({ kind: "choice" });
    expect(list).toMatchObject({
      nextPageToken: "p",
      questions: [
        { kind: "permission", toolName: "Bash", toolInput: { command: "ls" }, seq: 3, askedAt: new Date(1) },
        { kind: "choice", question: "Which?", options: ["a"], isMultiple: false, agentPath: ["x"] },
      ],
    });
    expect(list.questions).toHaveLength(2);
  });
});

function connected(methods: Partial<ServiceImpl<typeof SessionService>>): CrabcodeClient {
  return new CrabcodeClient(createRouterTransport(({ service }) => service(SessionService, methods)));
}
