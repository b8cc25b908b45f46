import { describe, expect, it } from "vitest";
import { comparable, differences, isComplete, numberingFaults } from "./compare-events.ts";
import { fillIn, writeOut } from "./fill-in.ts";
import { type Captures, mismatchOf } from "./matcher.ts";

describe("a matcher", () => {
  it.each<[matcher: unknown, fitting: unknown, other: unknown]>([
    [1, 1, "1"],
    [null, null, undefined],
    [{ a: 1 }, { a: 1, b: 2 }, { b: 2 }],
    [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }, { a: { b: 2 } }],
    [[1, { a: 1 }], [1, { a: 1, b: 1 }], [1]],
    [
      ["$subset", 1, 3],
      [1, 2, 3],
      [3, 1],
    ],
    [{ a: { $contains: "x" } }, { a: "axb" }, { a: "ab" }],
    [{ a: { $regex: "^x.y$" } }, { a: "x-y" }, { a: "x--y" }],
    [{ a: { $any: true } }, { a: 0 }, { a: null }],
    [{ a: { $any: true } }, { a: false }, {}],
    [{ a: { $absent: true } }, {}, { a: null }],
    [{ a: { $gte: 4 } }, { a: 4 }, { a: 3 }],
    [{ a: { $ref: "known" } }, { a: "value" }, { a: "another" }],
    [{ a: { $capture: "new", $regex: "^x" } }, { a: "x1" }, { a: "y" }],
  ])("%j fits %j and not %j", (matcher, fitting, other) => {
    const captures: Captures = new Map([["known", "value"]]);
    expect(mismatchOf(matcher, fitting, captures)).toBeUndefined();
    expect(mismatchOf(matcher, other, captures)).toBeDefined();
  });

  it("stores what it captures only when all of it fits", () => {
    const captures: Captures = new Map();
    const matcher = { a: { $capture: "a" }, b: 1 };
    mismatchOf(matcher, { a: "no", b: 2 }, captures);
    expect(captures.size).toBe(0);
    mismatchOf(matcher, { a: "yes", b: 1 }, captures);
    expect(captures).toEqual(new Map([["a", "yes"]]));
  });

  it("refuses a condition it does not know, and fits nothing to a name that nobody stored", () => {
    expect(() => mismatchOf({ $regexp: "x" }, "x", new Map())).toThrow("$regexp");
    expect(mismatchOf({ a: { $ref: "nothing" } }, { a: 1 }, new Map())).toBeDefined();
  });
});

describe("placeholders", () => {
  it("are replaced by what is stored, and must be known", () => {
    expect(fillIn({ a: ["${x}/y"] }, new Map([["x", 1]]))).toEqual({ a: ["1/y"] });
    expect(() => fillIn("${x}", new Map())).toThrow("${x}");
  });

  it("write out repeated texts and code units", () => {
    const text = { a: { $repeat: ["ab", 2] }, b: { $utf16: "d83e dd80" }, c: "${x}" };
    expect(writeOut(text)).toEqual({ a: "abab", b: "🦀", c: "${x}" });
  });
});

describe("a list of events", () => {
  const mode = { type: "stream_mode", mode: "requesting" };
  const said = (text: string) => ({ type: "stream_text", text });
  const answer = { type: "permission_response" };

  it("is compared without heartbeats, settlements on subscriptions, and with texts joined", () => {
    const seen = [mode, { type: "server.heartbeat" }, answer, said("a"), { type: "file_change" }, said("b")];
    const matchers = [mode, said("ab")];
    expect(differences(matchers, comparable(seen, matchers, "SubscribeEvents"), new Map())).toEqual([]);
    // A settlement has no business on the stream of a message.
    expect(differences(matchers, comparable(seen, matchers, "SendMessage"), new Map())).not.toEqual([]);
    // Who names the type gets to see it.
    const withAnswer = [mode, answer, said("ab")];
    expect(differences(withAnswer, comparable(seen, withAnswer, "SubscribeEvents"), new Map())).toEqual([]);
  });

  it("is complete and in order, unless it is a subsequence", () => {
    const seen = [mode, said("a"), mode];
    expect(differences([mode, said("a")], seen, new Map())).not.toEqual([]);
    expect(differences([said("a"), mode, mode], seen, new Map())).not.toEqual([]);
    expect(differences(["$mode:subsequence", mode, mode], seen, new Map())).toEqual([]);
    expect(differences(["$mode:subsequence", said("a"), said("a")], seen, new Map())).not.toEqual([]);
    expect(isComplete([mode, said("a"), mode, mode], seen, new Map())).toBe(false);
    expect(isComplete(["$mode:subsequence", said("b")], seen, new Map())).toBe(false);
  });

  it("must have numbers that grow, except for questions that are sent again", () => {
    const numbered = (seq: number, more = {}) => ({ ...mode, session_id: "s", epoch: "e", seq, ...more });
    expect(numberingFaults([numbered(1), numbered(3)])).toEqual([]);
    expect(numberingFaults([numbered(3), numbered(1, { replayed: true }), numbered(4)])).toEqual([]);
    expect(numberingFaults([numbered(2), numbered(2)])).toHaveLength(1);
    expect(numberingFaults([mode, { type: "server.connected" }])).toHaveLength(1);
  });
});
