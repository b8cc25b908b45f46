import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { QuestionKind, QuestionService } from "@trivium/proto/crabcode-questions";
import { MessageRole, SessionService, SessionState } from "@trivium/proto/crabcode-sessions";
import { ErrorInfoSchema } from "@trivium/proto/error-details";
import { describe, expect, it } from "vitest";
import { readAll } from "../take.ts";
import { sharedServer, useServer, verifies } from "../verifies.ts";

useServer();

verifies("session-service:life", async ({ transport, uniqueName: sessionId }) => {
  const client = createClient(SessionService, transport);
  const headers = { "idempotency-key": sessionId };
  const made = await client.createSession({ sessionId, title: sessionId }, { headers });
  expect(made.session).toMatchObject({ sessionId, state: SessionState.IDLE, modelProfile: "offline" });
  expect(await client.createSession({ sessionId, title: sessionId }, { headers })).toEqual(made);
  expect((await client.getSession({ sessionId })).session).toEqual(made.session);
  const { sessions, totalSize } = await client.listSessions({ query: sessionId });
  expect(totalSize).toBe(1n);
  expect(sessions).toEqual([made.session]);
  expect((await client.renameSession({ sessionId, title: "Other" })).session?.title).toBe("Other");
  expect((await client.archiveSession({ sessionId })).session?.state).toBe(SessionState.ARCHIVED);
  expect((await client.unarchiveSession({ sessionId })).session?.state).toBe(SessionState.STORED);
  expect((await client.resumeSession({ sessionId })).session?.state).toBe(SessionState.IDLE);
  expect((await client.listSessionTools({ sessionId })).tools.length).toBeGreaterThan(5);
  expect(await client.interruptTurn({ sessionId })).toMatchObject({ interrupted: false });
  await client.closeSession({ sessionId });
  await client.archiveSession({ sessionId });
  await client.deleteSession({ sessionId });
  expect((await client.listSessions({ query: sessionId, states: [SessionState.ARCHIVED] })).totalSize).toBe(
    0n,
  );
});

verifies("session-service:history", async ({ transport, uniqueName: sessionId }) => {
  const client = createClient(SessionService, transport);
  await client.createSession({ sessionId });
  await readAll(
    createClient(CrabCodeService, transport).sendMessage({ sessionId, text: `help ${sessionId}` }),
  );
  await client.closeSession({ sessionId });
  const first = await client.listMessages({ sessionId, pageSize: 1 });
  expect(first).toMatchObject({ totalSize: 2n, messages: [{ role: MessageRole.USER, index: 0 }] });
  const second = await client.listMessages({ sessionId, pageToken: first.nextPageToken });
  expect(second).toMatchObject({ nextPageToken: "", messages: [{ role: MessageRole.ASSISTANT, index: 1 }] });
  const { sessions } = await client.listSessions({ query: `HELP ${sessionId}` });
  expect(sessions).toMatchObject([{ sessionId, state: SessionState.STORED, messageCount: 2 }]);
});

verifies("session-service:refusals", async ({ transport, uniqueName: sessionId }) => {
  const client = createClient(SessionService, transport);
  await client.createSession({ sessionId });
  const refusals: [() => Promise<unknown>, Code, string][] = [
    [() => client.createSession({ sessionId }), Code.AlreadyExists, "SESSION_EXISTS"],
    [() => client.createSession({ cwd: "/" }), Code.PermissionDenied, "CWD_FORBIDDEN"],
    [() => client.getSession({ sessionId: `${sessionId}x` }), Code.NotFound, "SESSION_NOT_FOUND"],
    [() => client.listSessions({ pageToken: "x" }), Code.InvalidArgument, "PAGE_TOKEN_INVALID"],
    [() => client.deleteSession({ sessionId }), Code.FailedPrecondition, "NOT_ARCHIVED"],
    [() => client.compactSession({ sessionId }), Code.FailedPrecondition, "NOTHING_TO_COMPACT"],
  ];
  for (const [call, code, reason] of refusals) {
    const error = await call().catch((thrown: unknown) => ConnectError.from(thrown));
    expect(error).toMatchObject({ code });
    expect(error instanceof ConnectError && error.findDetails(ErrorInfoSchema)).toMatchObject([
      { domain: "trivium", reason },
    ]);
  }
});

verifies("list-questions:pending", async ({ transport, uniqueName: sessionId }) => {
  const client = createClient(CrabCodeService, transport);
  const questions = createClient(QuestionService, transport);
  await createClient(SessionService, transport).createSession({ sessionId });
  for await (const { type, payloadJson } of client.sendMessage({ sessionId, text: "run touch file" })) {
    if (type !== "permission_request") continue;
    const { tool_use_id: toolUseId, seq } = JSON.parse(payloadJson) as { tool_use_id: string; seq: number };
    const listed = await questions.listQuestions({ sessionId });
    expect(listed.questions).toMatchObject([
      { sessionId, toolUseId, kind: QuestionKind.PERMISSION, toolName: "Bash", seq: BigInt(seq) },
    ]);
    await client.respondPermission({ sessionId, toolUseId, allowed: false });
    expect((await questions.listQuestions({ sessionId })).questions).toEqual([]);
  }
});

describe("GET over Connect", () => {
  const url = (method: string): string =>
    `${sharedServer().url}/trivium.crabcode.v1.SessionService/${method}?connect=v1&encoding=json&message=%7B%7D`;

  it("reads", async () => {
    const response = await fetch(url("ListSessions"));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ sessions: expect.any(Array) });
  });

  it("changes nothing", async () => {
    expect((await fetch(url("CreateSession"))).status).toBe(405);
  });
});
