import { linkSignals, TriviumError } from "@trivium/core";
import type { SessionEvent } from "@trivium/proto/code-mode";
import type { Callbacks } from "./callbacks.ts";
import type { PeerWatch } from "./peer-watch.ts";
import type { SessionLink } from "./session-link.ts";
import type { Executions } from "./tools/executions.ts";
import type { ToolServer } from "./tools/tool-server.ts";

/** What the events of a lease act on. */
export interface LeaseParts {
  readonly link: SessionLink;
  readonly watch: PeerWatch;
  readonly executions: Executions;
  readonly toolServer: ToolServer;
  readonly callbacks: Callbacks;
}

/** Reads the lease to its end, which is the end of the session. */
export async function readLease(events: AsyncIterable<SessionEvent>, parts: LeaseParts): Promise<void> {
  const { link, watch, executions } = parts;
  try {
    for await (const { event } of events) {
      // What had been received already when the session ended says nothing any more.
      if (link.hasEnded) break;
      watch.heard(event.case === "heartbeat");
      take(event, parts);
    }
    link.end("the host closed the session");
  } catch (thrown) {
    const cause = thrown instanceof Error ? thrown : new Error(String(thrown));
    link.end("the session's lease was lost", cause);
  } finally {
    watch[Symbol.dispose]();
    executions.closeAll();
  }
}

function take(event: SessionEvent["event"], parts: LeaseParts): void {
  switch (event.case) {
    case "toolCallCancelled":
      parts.toolServer.cancel(event.value.invocationId);
      return;
    case "notification":
      takeNotification(event.value, parts);
      return;
    case "cellClosed":
      parts.executions.close(event.value.executionId, event.value.cellId);
      return;
    case "opened":
    case "notificationCancelled":
    case "heartbeat":
    // What is newer than this client is skipped.
    case undefined:
      return;
  }
}

type Notification = Extract<SessionEvent["event"], { case: "notification" }>["value"];

function takeNotification(notification: Notification, parts: LeaseParts): void {
  const { executionId, callId } = notification;
  const execution = parts.executions.get(executionId);
  if (execution !== undefined && execution.toolCallId !== callId) {
    const what = `the host sent a notification of ${executionId} under the label ${callId}, which is not its own`;
    parts.link.end(what, new TriviumError("internal", what));
    return;
  }
  parts.executions.track(executionId, notify(notification, execution?.signal, parts));
}

/**
 * Runs the handler, then acknowledges, also when there is no handler, when it failed, or when the program is gone and
 * nobody wants to hear of it.
 */
async function notify(
  notification: Notification,
  interest: AbortSignal | undefined,
  { link, callbacks }: LeaseParts,
): Promise<void> {
  const { notificationId, executionId, cellId, callId: toolCallId, text } = notification;
  const { client, sessionId } = link;
  if (interest !== undefined) {
    using linked = linkSignals([interest, link.signal]);
    await callbacks.notified({ executionId, cellId, toolCallId, text }, linked.signal);
  }
  try {
    await link.call((options) => client.acknowledgeNotification({ sessionId, notificationId }, options));
  } catch {
    // Hosts may not know the id any more, or be gone; the lease tells the latter.
  }
}
