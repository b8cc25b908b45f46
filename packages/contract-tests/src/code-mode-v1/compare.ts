import type { Seen } from "./replay.ts";
import type { Message, V1Vector } from "./vector.ts";

/** A difference between a recording and a replay. */
export interface Difference {
  readonly where: string;
  readonly expected: unknown;
  readonly seen: unknown;
}

/**
 * Compares what was said about each cell and each request, in order; between cells and requests there is none.
 *
 * `${text:TOKEN}` within a text stands for any words. Times must be whole nanoseconds, and 0 where they were.
 */
export function compare(vector: V1Vector, seen: Seen): Difference[] {
  const recorded = vector.frames.flatMap(({ dir, json }) =>
    dir === "h2c" && json !== undefined ? [json] : [],
  );
  const messages = withoutElided(vector, recorded, seen.messages);
  const expectedStories = toStories(recorded);
  const seenStories = toStories(messages);
  const differences: Difference[] = [];
  for (const story of new Set([...expectedStories.keys(), ...seenStories.keys()])) {
    const expected = expectedStories.get(story) ?? [];
    const told = seenStories.get(story) ?? [];
    if (!matches(expected, told)) differences.push({ where: story, expected, seen: told });
  }
  const { hostClosedFirst, exitCode } = vector.end;
  // A recording that ends with the client's own end says that the host ended as well.
  if (seen.hostClosedFirst && !hostClosedFirst) {
    differences.push({ where: "end", expected: "open", seen: "closed by the host" });
  }
  if (seen.exitCode !== undefined && seen.exitCode !== exitCode) {
    differences.push({ where: "exit code", expected: exitCode, seen: seen.exitCode });
  }
  return differences;
}

/** Messages of elided kinds that are not among the recorded ones are taken away, if there are as many as were left out. */
function withoutElided(
  { elided }: V1Vector,
  recorded: readonly Message[],
  messages: readonly Message[],
): readonly Message[] {
  const types = Object.keys(elided ?? {});
  const isLeftOut = (message: Message): boolean =>
    types.includes(message.type) && !recorded.some((one) => matches(one, message));
  const counts = types.map((type) => messages.filter((one) => one.type === type && isLeftOut(one)).length);
  const isComplete = types.every((type, index) => counts[index] === elided?.[type]);
  if (!isComplete) return messages;
  // They were revoked in another order, which is free.
  const rest = messages.filter((message) => !isLeftOut(message));
  return types.includes("delegate/cancel")
    ? rest.toSorted((one, other) => rank(recorded, one) - rank(recorded, other))
    : rest;
}

function rank(recorded: readonly Message[], message: Message): number {
  return recorded.findIndex((one) => matches(one, message));
}

/** The messages about each cell, or about a request or connection where there is no cell. */
function toStories(messages: readonly Message[]): Map<string, Message[]> {
  const cellOfRequest = new Map<string, string>();
  const cellOfDelegate = new Map<string, string>();
  const stories = new Map<string, Message[]>();
  for (const message of messages) {
    const cell = cellOf(message) ?? cellOfDelegate.get(String(message["id"]));
    const request = JSON.stringify(message["id"]);
    if (message.type === "delegate/request" && cell !== undefined) {
      cellOfDelegate.set(String(message["id"]), cell);
    }
    if (isStart(message) && cell !== undefined) cellOfRequest.set(request, cell);
    const isRefused = message.type === "execute/initialResponse" && cellOf(message) === undefined;
    const story = (isRefused ? cellOfRequest.get(request) : cell) ?? `${message.type} ${request}`;
    stories.set(story, [...(stories.get(story) ?? []), message]);
  }
  return stories;
}

function isStart(message: Message): boolean {
  return message.type === "operation/response" && JSON.stringify(message).includes("execution/started");
}

function cellOf(message: Message): string | undefined {
  if (message.type === "delegate/cancel") return undefined;
  if (message.type === "operation/response" || message.type === "execute/initialResponse") {
    const id = /"cell_?[iI]d":"([^"]*)"/.exec(JSON.stringify(message))?.[1];
    return id === undefined ? undefined : `cell ${id}`;
  }
  const id = /"cell_?[iI]d":"([^"]*)"/.exec(JSON.stringify(message))?.[1];
  return id === undefined ? undefined : `cell ${id}`;
}

function matches(expected: unknown, seen: unknown, key = ""): boolean {
  if (key.endsWith("_ns")) return isTimeLike(expected, seen, key);
  if (typeof expected === "string") return matchesText(expected, seen);
  if (typeof expected !== "object" || expected === null) return Object.is(expected, seen);
  if (typeof seen !== "object" || seen === null || Array.isArray(expected) !== Array.isArray(seen))
    return false;
  const keys = new Set([...Object.keys(expected), ...Object.keys(seen)]);
  return [...keys].every((one) => matches(Reflect.get(expected, one), Reflect.get(seen, one), one));
}

function isTimeLike(expected: unknown, seen: unknown, key: string): boolean {
  if (!Number.isInteger(seen) || Number(seen) < 0) return false;
  return key !== "result_buffered_for_ns" || (expected === 0) === (seen === 0);
}

function matchesText(expected: string, seen: unknown): boolean {
  if (typeof seen !== "string") return false;
  if (!expected.includes("${text:")) return expected === seen;
  const parts = expected.split(/\$\{text:[^}]*\}/).map((part) => part.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&"));
  return new RegExp(`^${parts.join(".+")}$`, "s").test(seen);
}
