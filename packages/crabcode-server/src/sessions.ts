import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { CrabcodeError, type CrabcodeSessions, type SessionState as State } from "@trivium/crabcode-runtime";
import {
  type ArchiveSessionRequest,
  type ArchiveSessionResponse,
  ArchiveSessionResponseSchema,
  type CloseSessionRequest,
  type CloseSessionResponse,
  CloseSessionResponseSchema,
  type CreateSessionRequest,
  type CreateSessionResponse,
  CreateSessionResponseSchema,
  type DeleteSessionRequest,
  type DeleteSessionResponse,
  DeleteSessionResponseSchema,
  type GetSessionRequest,
  type GetSessionResponse,
  GetSessionResponseSchema,
  type ListSessionsRequest,
  type ListSessionsResponse,
  ListSessionsResponseSchema,
  type RenameSessionRequest,
  type RenameSessionResponse,
  RenameSessionResponseSchema,
  type ResumeSessionRequest,
  type ResumeSessionResponse,
  ResumeSessionResponseSchema,
  SessionState,
  type UnarchiveSessionRequest,
  type UnarchiveSessionResponse,
  UnarchiveSessionResponseSchema,
} from "@trivium/proto/crabcode-sessions";
import { metadataKeys } from "./metadata.ts";
import { toWireSession } from "./wire-session.ts";

type ResponseContext = Pick<HandlerContext, "responseHeader">;

/** CreateSession: makes a session and loads it. */
export async function createSession(
  sessions: Pick<CrabcodeSessions, "create">,
  { sessionId, cwd, title, modelProfile, mode }: CreateSessionRequest,
  { requestHeader, responseHeader }: Pick<HandlerContext, "requestHeader" | "responseHeader">,
): Promise<CreateSessionResponse> {
  const idempotencyKey = requestHeader.get(metadataKeys.idempotencyKey);
  const { session, isReplay } = await sessions.create({
    sessionId,
    cwd,
    title,
    modelProfile,
    mode,
    ...(idempotencyKey !== null && { idempotencyKey }),
  });
  if (isReplay) responseHeader.set(metadataKeys.isReplay, "1");
  return create(CreateSessionResponseSchema, { session: toWireSession(session, responseHeader) });
}

/** GetSession: one session as it is now. */
export async function getSession(
  sessions: Pick<CrabcodeSessions, "get">,
  { sessionId }: GetSessionRequest,
  { responseHeader }: ResponseContext,
): Promise<GetSessionResponse> {
  const session = await sessions.get(sessionId);
  return create(GetSessionResponseSchema, { session: toWireSession(session, responseHeader) });
}

/** ListSessions: a page of sessions. */
export async function listSessions(
  runtime: Pick<CrabcodeSessions, "list">,
  { states, cwd, query, pageSize, pageToken }: ListSessionsRequest,
): Promise<ListSessionsResponse> {
  const wanted = states.map(toState);
  const page = await runtime.list({ states: wanted, cwd, query, pageSize, pageToken });
  return create(ListSessionsResponseSchema, {
    sessions: page.sessions.map((session) => toWireSession(session)),
    nextPageToken: page.nextPageToken,
    totalSize: BigInt(page.totalSize),
  });
}

/** ResumeSession: loads a session. */
export async function resumeSession(
  sessions: Pick<CrabcodeSessions, "resume">,
  { sessionId }: ResumeSessionRequest,
  { responseHeader }: ResponseContext,
): Promise<ResumeSessionResponse> {
  const { session, stoppedAgentCount, isTurnRecovered } = await sessions.resume(sessionId);
  return create(ResumeSessionResponseSchema, {
    session: toWireSession(session, responseHeader),
    stoppedAgentCount,
    turnRecovered: isTurnRecovered,
  });
}

/** RenameSession: sets the title for good. */
export async function renameSession(
  sessions: Pick<CrabcodeSessions, "rename">,
  { sessionId, title }: RenameSessionRequest,
  { responseHeader }: ResponseContext,
): Promise<RenameSessionResponse> {
  const session = await sessions.rename(sessionId, title);
  return create(RenameSessionResponseSchema, { session: toWireSession(session, responseHeader) });
}

/** ArchiveSession: closes a session and archives it. */
export async function archiveSession(
  sessions: Pick<CrabcodeSessions, "archive">,
  { sessionId, interrupt }: ArchiveSessionRequest,
  { responseHeader }: ResponseContext,
): Promise<ArchiveSessionResponse> {
  const session = await sessions.archive(sessionId, { interrupt });
  return create(ArchiveSessionResponseSchema, { session: toWireSession(session, responseHeader) });
}

/** UnarchiveSession: takes a session out of the archive. */
export async function unarchiveSession(
  sessions: Pick<CrabcodeSessions, "unarchive">,
  { sessionId }: UnarchiveSessionRequest,
  { responseHeader }: ResponseContext,
): Promise<UnarchiveSessionResponse> {
  const session = await sessions.unarchive(sessionId);
  return create(UnarchiveSessionResponseSchema, { session: toWireSession(session, responseHeader) });
}

/** CloseSession: unloads a session. */
export async function closeSession(
  sessions: Pick<CrabcodeSessions, "close">,
  { sessionId, interrupt }: CloseSessionRequest,
  { responseHeader }: ResponseContext,
): Promise<CloseSessionResponse> {
  const closed = await sessions.close(sessionId, { interrupt });
  responseHeader.set(metadataKeys.sessionId, closed.sessionId);
  return create(CloseSessionResponseSchema);
}

/** DeleteSession: removes an archived session. */
export async function deleteSession(
  sessions: Pick<CrabcodeSessions, "delete">,
  { sessionId }: DeleteSessionRequest,
  { responseHeader }: ResponseContext,
): Promise<DeleteSessionResponse> {
  const deleted = await sessions.delete(sessionId);
  responseHeader.set(metadataKeys.sessionId, deleted.sessionId);
  return create(DeleteSessionResponseSchema);
}

/** @throws CrabcodeError FIELD_INVALID for a number that names no state */
function toState(state: SessionState): State {
  switch (state) {
    case SessionState.IDLE:
      return "idle";
    case SessionState.BUSY:
      return "busy";
    case SessionState.STORED:
      return "stored";
    case SessionState.ARCHIVED:
      return "archived";
    case SessionState.CLOSING:
      return "closing";
    case SessionState.UNSPECIFIED:
    // Numbers of a newer contract.
    default:
      throw new CrabcodeError("FIELD_INVALID", "states names an unknown state", { field: "states" });
  }
}
