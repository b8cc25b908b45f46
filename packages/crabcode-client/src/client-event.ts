import { TriviumError } from "@trivium/core";
import type { CoreEventProto } from "@trivium/proto/crabcode";
import type {
  CrabcodeEventEnvelope,
  CrabcodeEventType,
  CrabcodeServerEvent,
  CrabcodeSessionEvent,
} from "@trivium/proto/crabcode-events";

/** An event of a type this release of the client does not know. */
export interface UnknownCrabcodeEvent {
  readonly type: "unknown";
  /** The type as it came. */
  readonly wireType: string;
  /** The payload as it came, parsed. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** An event of a session, with its number and what else a stream adds to it. */
export type NumberedCrabcodeEvent = CrabcodeSessionEvent & CrabcodeEventEnvelope;

/** What streams of this client deliver. Switch on `type`; ignore types you do not need. */
export type CrabcodeClientEvent = NumberedCrabcodeEvent | CrabcodeServerEvent | UnknownCrabcodeEvent;

/** Where a stream is in the numbering of one session: `<epoch>:<seq>`. Undefined for events without a number. */
export function cursorOf(event: CrabcodeClientEvent): string | undefined {
  return isNumbered(event) ? `${event.epoch}:${event.seq}` : undefined;
}

/** True for the events of a session; false for those about the stream itself. */
export function isNumbered(event: CrabcodeClientEvent): event is NumberedCrabcodeEvent {
  return "seq" in event;
}

const knownTypes: Readonly<Record<CrabcodeEventType, true>> = {
  stream_text: true,
  thinking: true,
  tool_use: true,
  tool_result: true,
  permission_request: true,
  permission_response: true,
  choice_request: true,
  choice_response: true,
  stream_mode: true,
  compact: true,
  error: true,
  turn_complete: true,
  agent_state: true,
  agent_output: true,
  mode_change: true,
  plan_ready: true,
  model_change: true,
  permission_mode_change: true,
  file_change: true,
  snapshot: true,
  revert: true,
  stream_retry: true,
  "server.connected": true,
  "server.heartbeat": true,
  "server.gap": true,
};

/**
 * Parses one message of a stream.
 *
 * @throws {@link TriviumError} `internal` when the payload is no JSON object.
 */
export function parseEvent({ type, payloadJson }: CoreEventProto): CrabcodeClientEvent {
  let payload: unknown;
  try {
    payload = JSON.parse(payloadJson);
  } catch (cause) {
    throw new TriviumError("internal", `the payload of a ${type} event is not JSON`, { cause });
  }
  if (!isObject(payload)) throw new TriviumError("internal", `the payload of a ${type} event is no object`);
  if (!Object.hasOwn(knownTypes, type)) return { type: "unknown", wireType: type, raw: payload };
  // The contract fixes the shape of a known type; the type itself is taken from the message.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { ...payload, type } as CrabcodeClientEvent;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
