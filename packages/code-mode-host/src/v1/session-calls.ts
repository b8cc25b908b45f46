import type {
  CodeModeLimits,
  CodeModeSession,
  SessionEvent,
  SubscriptionEvent,
  ToolCall,
} from "@trivium/code-mode-runtime";
import { MAX_PAYLOAD_BYTES } from "./frame.ts";
import { delegateCancelMessage, notificationMessage, toolInvokeMessage } from "./host-message.ts";
import { fitsFrame } from "./reply.ts";
import type { SessionPeer } from "./session-peer.ts";

type Notified = Extract<SessionEvent, { readonly type: "notified" }>;

/** The calls of one session to its client: tools and notifications. */
export class SessionCalls {
  readonly #sessionId: string;
  readonly #session: CodeModeSession;
  readonly #peer: SessionPeer;
  readonly #limits: CodeModeLimits;

  /** @param sessionId the client's name of the session */
  constructor(
    sessionId: string,
    session: CodeModeSession,
    { peer, limits }: { readonly peer: SessionPeer; readonly limits: CodeModeLimits },
  ) {
    this.#sessionId = sessionId;
    this.#session = session;
    this.#peer = peer;
    this.#limits = limits;
  }

  /** Sends a tool call on, or rejects it in the program. */
  toolCalled(event: SubscriptionEvent): void {
    if (event.type !== "tool-called") return;
    const { call } = event;
    const { delegates } = this.#peer;
    const refusal = this.#refusal(call);
    const json = refusal ?? toolInvokeMessage(delegates.nextId, this.#sessionId, call);
    if (refusal !== undefined || !fitsFrame(json)) {
      const message = refusal ?? tooLarge(`the call of the tool ${call.tool.toolName}`);
      this.#session.completeToolCall(call.invocationId, { type: "failed", message });
      return;
    }
    delegates.add({ kind: "tool", session: this.#session, callId: call.invocationId });
    this.#peer.sendBulk(json);
  }

  /** Sends a notification on. One that cannot be sent is dropped: programs do not learn how theirs fare. */
  notified(event: Notified): void {
    const { delegates, logger } = this.#peer;
    const { notificationId, cellId } = event;
    const json = notificationMessage(delegates.nextId, this.#sessionId, event);
    const reason = delegates.isFull ? tooMany(delegates.capacity) : tooLarge("a notification");
    if (delegates.isFull || !fitsFrame(json)) {
      logger.warn({ sessionId: this.#sessionId, cellId, reason }, "a notification was dropped");
      this.#session.answerNotification(notificationId);
      return;
    }
    delegates.add({ kind: "notification", session: this.#session, callId: notificationId });
    this.#peer.sendControl(json);
  }

  /** Takes a call back that the client may have. */
  cancelled(callId: string): void {
    const id = this.#peer.delegates.cancel(callId);
    if (id !== undefined) this.#peer.sendBulk(delegateCancelMessage(id));
  }

  #refusal(call: ToolCall): string | undefined {
    const { delegates, unsentBytes } = this.#peer;
    if (delegates.isFull) return tooMany(delegates.capacity);
    const { maxToolCallBacklogBytes } = this.#limits;
    if (unsentBytes + (call.inputJson?.length ?? 0) <= maxToolCallBacklogBytes) return undefined;
    return `too many unread tool calls: they take at most ${maxToolCallBacklogBytes} bytes on this connection`;
  }
}

function tooMany(capacity: number): string {
  return `too many unanswered calls: this connection allows ${capacity}`;
}

function tooLarge(what: string): string {
  return `${what} does not fit in a frame of ${MAX_PAYLOAD_BYTES} bytes`;
}
