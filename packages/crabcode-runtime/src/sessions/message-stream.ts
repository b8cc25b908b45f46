import { createHash } from "node:crypto";
import type { Clock } from "@trivium/core";
import type { SendMessageInput, StreamEvent } from "../crabcode-runtime.ts";
import { EventStream } from "../events/event-stream.ts";
import type { PublishedEvent, SessionEventBus } from "../events/session-event-bus.ts";
import { SessionFeed } from "../events/session-feed.ts";
import type { Operation } from "./operation.ts";

/** Events of a turn that only subscriptions carry. */
const ELSEWHERE: ReadonlySet<string> = new Set(["permission_response", "choice_response"]);

/** What a stream of a session is made of. */
export interface MessageStreamDeps {
  readonly bus: SessionEventBus;
  readonly clock: Clock;
  readonly heartbeat: () => StreamEvent;
  /** The turn that a run of an agent belongs to. */
  readonly rootOf: (operationId: string) => string | undefined;
}

/** Which turn a stream shows, and which part of the log. */
export interface MessageStreamRange {
  readonly operationId: string;
  /** Undefined once the turn is over. */
  readonly operation: Operation | undefined;
  readonly signal: AbortSignal | undefined;
  readonly afterSeq: number;
  readonly untilSeq: number | undefined;
}

/** The stream of one call: the events of its turn, and of the agents that the turn led to. */
export function openMessageStream(
  { bus, clock, heartbeat, rootOf }: MessageStreamDeps,
  { operationId, operation, signal, ...range }: MessageStreamRange,
): EventStream {
  const stream: EventStream = new EventStream({
    clock,
    signal,
    heartbeat,
    lastType: "turn_complete",
    onClose: (how) => operation?.detach(stream, { how, signal }),
  });
  const accepts = (event: PublishedEvent): boolean => {
    if (ELSEWHERE.has(event.type) || event.operationId === undefined) return false;
    return event.operationId === operationId || rootOf(event.operationId) === operationId;
  };
  stream.add(new SessionFeed(bus, { ...range, accepts, onReady: () => stream.wake() }));
  return stream;
}

/** Fingerprint of a request without its session. */
export function hashRequest({ text, maxTurns }: SendMessageInput): string {
  return createHash("sha256")
    .update(JSON.stringify([text, maxTurns ?? 0]))
    .digest("hex");
}
