import type { Payload } from "./calls.ts";
import { type Captures, type Mismatch, mismatchOf } from "./matcher.ts";
import type { Matcher, RpcName } from "./vector.ts";

/** First element of a list whose matchers may have other events in between. */
const SUBSEQUENCE = "$mode:subsequence";

/** Left out of a comparison unless the list names the type. */
const optionalTypes = new Set(["file_change", "snapshot", "stream_retry"]);
/** The same, on subscriptions only. */
const optionalOnSubscriptions = new Set(["permission_response", "choice_response", "model_change"]);
/** Neighbours of these types are one event, their texts joined. */
const joinedTypes = new Set(["stream_text", "thinking", "agent_output"]);

/** What is wrong with the numbers of a stream: each event of a session has one, and they grow. */
export function numberingFaults(events: readonly Payload[]): unknown[] {
  const faults: unknown[] = [];
  let last = 0;
  for (const event of events) {
    if (event.type.startsWith("server.")) continue;
    const { session_id, epoch, seq, replayed } = event;
    const isNumbered = typeof session_id === "string" && typeof epoch === "string" && typeof seq === "number";
    if (!isNumbered) faults.push({ fault: "the event has no number", event });
    else if (replayed !== true) {
      if (seq <= last) faults.push({ fault: `its number does not grow after ${last}`, event });
      last = seq;
    }
  }
  return faults;
}

/** The events as an expected list speaks of them. */
export function comparable(
  events: readonly Payload[],
  matchers: readonly Matcher[],
  rpc: RpcName,
): readonly Payload[] {
  const named = new Set(matchers.map((matcher) => (matcher as { type?: unknown }).type));
  const isLeftOut = ({ type, reason }: Payload): boolean => {
    if (type === "server.heartbeat") return true;
    if (named.has(type)) return false;
    if (optionalTypes.has(type)) return true;
    if (rpc !== "SubscribeEvents") return false;
    return optionalOnSubscriptions.has(type) || (type === "mode_change" && reason === "client");
  };
  const joined: Payload[] = [];
  for (const event of events) {
    if (isLeftOut(event)) continue;
    const before = joined.at(-1);
    if (before !== undefined && isContinued(before, event)) {
      joined[joined.length - 1] = { ...before, text: `${String(before["text"])}${String(event["text"])}` };
    } else joined.push(event);
  }
  return joined;
}

/** How the events differ from the expected list; what fits leaves its captures. */
export function differences(
  matchers: readonly Matcher[],
  events: readonly Payload[],
  captures: Captures,
): unknown[] {
  if (matchers[0] === SUBSEQUENCE) return missingOf(matchers.slice(1), events, captures);
  const found: unknown[] = [];
  for (let index = 0; index < Math.max(matchers.length, events.length); index += 1) {
    const matcher = matchers[index];
    const event = events[index];
    if (matcher === undefined) found.push({ index, unexpected: event });
    else if (event === undefined) found.push({ index, missing: matcher });
    else {
      const mismatch: Mismatch | undefined = mismatchOf(matcher, event, captures);
      if (mismatch !== undefined) found.push({ index, ...mismatch, event });
    }
  }
  return found;
}

/** True when nothing of the list is missing any more, right or wrong. */
export function isComplete(
  matchers: readonly Matcher[],
  events: readonly Payload[],
  captures: Captures,
): boolean {
  if (matchers[0] !== SUBSEQUENCE) return events.length >= matchers.length;
  return missingOf(matchers.slice(1), events, new Map(captures)).length === 0;
}

function missingOf(matchers: readonly Matcher[], events: readonly Payload[], captures: Captures): unknown[] {
  let at = 0;
  for (const matcher of matchers) {
    const from = at;
    while (at < events.length && mismatchOf(matcher, events[at], captures) !== undefined) at += 1;
    if (at === events.length) return [{ missing: matcher, among: events.slice(from) }];
    at += 1;
  }
  return [];
}

function isContinued(before: Payload, event: Payload): boolean {
  return (
    joinedTypes.has(event.type) &&
    before.type === event.type &&
    before["agent_id"] === event["agent_id"] &&
    before["stream"] === event["stream"]
  );
}
