import type { EventLogStore } from "@trivium/core";
import type { Session } from "../sessions/session.ts";
import type { SessionRegistry } from "../sessions/session-registry.ts";
import { eventLogName } from "../store/event-log-name.ts";
import type { SessionRow } from "../store/session-index.ts";
import type { SessionInfo, SessionState } from "./session-types.ts";

/** What a description is made from. */
export interface DescribeDeps {
  readonly registry: SessionRegistry;
  readonly eventLogs: EventLogStore;
}

/** What a session in memory does. */
export function liveState(session: Session): SessionState {
  if (session.isClosing) return "closing";
  return session.isBusy ? "busy" : "idle";
}

/** A session as it is now. Loads nothing. */
export async function describeSession(
  { registry, eventLogs }: DescribeDeps,
  { modelProfile, isArchived, ...row }: SessionRow,
): Promise<SessionInfo> {
  const { sessionId } = row;
  const head = await eventLogs.head(eventLogName(sessionId));
  const session = registry.peek(sessionId);
  const isDefault = registry.isDefault(sessionId);
  if (session === undefined) {
    return {
      ...row,
      state: isArchived ? "archived" : "stored",
      mode: "agent",
      modelProfile,
      activeAgentCount: 0,
      pendingQuestionCount: 0,
      epoch: head?.epoch ?? "",
      headSeq: head?.lastSeq ?? 0,
      isDefault,
    };
  }
  const { bus } = session.parts;
  return {
    ...row,
    state: liveState(session),
    mode: session.mode,
    modelProfile: session.modelProfile,
    activeAgentCount: session.agents.activeCount,
    pendingQuestionCount: session.questions.published.length,
    epoch: bus.epoch,
    headSeq: bus.seq,
    isDefault,
  };
}
