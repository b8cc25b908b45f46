import type { SessionGate } from "@trivium/crabcode-runtime";
import { expect, it } from "vitest";
import { toChoiceAsker } from "./permission-session.ts";

type Verdict = Awaited<ReturnType<SessionGate["choose"]>>;

/** A conversation whose people always say the same. */
function gateTo(verdict: Verdict, asked: string[] = []): SessionGate {
  return {
    sessionId: "s",
    permit: () => Promise.resolve(undefined),
    async choose({ toolUseId }) {
      asked.push(toolUseId);
      return verdict;
    },
  };
}

const choice = {
  callId: "c",
  number: 1,
  question: "?",
  options: ["a", "b"],
  isMultiple: true,
  signal: new AbortController().signal,
};

it.each([
  [["a", "b/c"], "a/b/c/1"],
  [["a/b", "c"], "a%2Fb/c/1"],
  [["", "c"], "/c/1"],
  [[undefined, "s/1/2"], "s/1/2/1"],
] as const)("asks for the session and call %j as %s, which is no other's", async ([session, callId], id) => {
  const asked: string[] = [];
  const gate = gateTo({ selected: ["a"], isCancelled: false, resolution: "answered" }, asked);
  await toChoiceAsker(gate, session).choose({ ...choice, callId });
  expect(asked).toEqual([id]);
});

it.each([
  [
    { selected: ["a"], isCancelled: false, resolution: "answered" },
    { type: "chosen", labels: ["a"] },
  ],
  [
    { selected: [], isCancelled: false, resolution: "answered" },
    { type: "chosen", labels: [] },
  ],
  [{ selected: [], isCancelled: true, resolution: "answered" }, { type: "cancelled" }],
  [{ selected: [], isCancelled: true, resolution: "cancelled" }, { type: "cancelled" }],
  [{ selected: [], isCancelled: true, resolution: "expired" }, { type: "expired" }],
] as const)("passes %j on as %j", async (verdict, reply) => {
  const gate = gateTo(verdict);
  expect(await toChoiceAsker(gate, "t").choose(choice)).toEqual(reply);
});
