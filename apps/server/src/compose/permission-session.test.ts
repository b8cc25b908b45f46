import type { SessionGate } from "@trivium/crabcode-runtime";
import { expect, it } from "vitest";
import { toChoiceAsker } from "./permission-session.ts";

it.each([
  [["a", "b/c"], "a/b/c/1"],
  [["a/b", "c"], "a%2Fb/c/1"],
  [["", "c"], "/c/1"],
  [[undefined, "s/1/2"], "s/1/2/1"],
] as const)("asks for the session and call %j as %s, which is no other's", async ([session, callId], id) => {
  const asked: string[] = [];
  const gate: SessionGate = {
    sessionId: "s",
    permit: () => Promise.resolve(undefined),
    async choose({ toolUseId }) {
      asked.push(toolUseId);
      return { selected: ["yes"], isCancelled: false, resolution: "answered" };
    },
  };
  const { signal } = new AbortController();
  const choice = { callId, number: 1, question: "?", options: ["yes"], isMultiple: false, signal };
  expect(await toChoiceAsker(gate, session).choose(choice)).toEqual({ type: "chosen", labels: ["yes"] });
  expect(asked).toEqual([id]);
});
