import { describe, expect, it } from "vitest";
import type { CompactionMark } from "../store/compaction-mark.ts";
import type { TranscriptMark } from "../store/transcript-mark.ts";
import type { Message } from "./message.ts";
import { Projection } from "./projection.ts";

const timestamp = "2026-01-01T00:00:00.000Z";
const message = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const checkpoint = (checkpointId: string, messageUuid: string, messageIndex: number): TranscriptMark => ({
  type: "checkpoint",
  checkpointId,
  timestamp,
  messageUuid,
  messageIndex,
  label: "",
});
const rollback = (checkpointId: string, rollbackToIndex: number, keepFromIndex?: number): TranscriptMark => ({
  type: "rollback",
  checkpointId,
  timestamp,
  rollbackToIndex,
  keepFromIndex,
});
const compaction = (...messages: CompactionMark["messages"]): CompactionMark => ({
  type: "compaction",
  timestamp,
  trigger: "manual",
  messages,
});

describe("Projection", () => {
  it("returns to a checkpoint and forward again, and counts positions over all messages", () => {
    const { add, apply, shown } = started();
    add("a", "b");
    apply(checkpoint("one", "b", 1));
    add("c");
    apply(checkpoint("two", "c", 2));
    apply(rollback("one", 1));
    expect(shown()).toEqual(["a0", "b1"]);
    add("d");
    expect(shown()).toEqual(["a0", "b1", "d3"]);
    apply(rollback("two", 2));
    expect(shown()).toEqual(["a0", "b1", "c2"]);
  });

  it("returns to what was before a compaction, also when a checkpoint holds one", () => {
    const { add, apply, shown } = started();
    add("a", "b", "c");
    apply(checkpoint("before", "b", 1));
    apply(compaction({ uuid: "s", message: message("s") }, { uuid: "c" }));
    apply(checkpoint("compacted", "c", 2));
    add("d");
    apply(rollback("compacted", 2));
    expect(shown()).toEqual(["s-1", "c2"]);
    apply(rollback("before", 1));
    expect(shown()).toEqual(["a0", "b1"]);
  });

  it("keeps the turn that rolls back, and nothing twice", () => {
    const { add, apply, shown } = started();
    add("a");
    apply(checkpoint("one", "a", 0));
    add("b", "c", "d");
    apply(rollback("one", 0, 2));
    expect(shown()).toEqual(["a0", "c2", "d3"]);
    apply(checkpoint("within", "c", 2));
    apply(rollback("within", 2, 2));
    expect(shown()).toEqual(["a0", "c2", "d3"]);
  });

  it("goes by the position when a checkpoint or its message could not be read", () => {
    const { add, apply, shown } = started();
    add("a", "b", "c");
    apply(checkpoint("broken", "gone", 1));
    apply(rollback("broken", 1));
    expect(shown()).toEqual(["a0", "b1"]);
    apply(rollback("unknown", 0));
    expect(shown()).toEqual(["a0"]);
    apply(checkpoint("empty", "", -1));
    apply(rollback("empty", -1));
    expect(shown()).toEqual([]);
  });

  it("keeps the whole turn that rolls back, also what a compaction within it has replaced", () => {
    const { add, apply, shown, textOf } = started();
    add("a");
    apply(checkpoint("one", "a", 0));
    add("b", "question", "call", "result", "call2");
    apply(compaction({ uuid: "s", message: message("s") }, { uuid: "call2", message: message("short") }));
    add("last");
    apply(rollback("one", 0, 2));
    expect(shown()).toEqual(["a0", "question2", "call3", "result4", "call25", "last6"]);
    expect(textOf("call2")).toEqual({ type: "text", text: "short" });
  });

  it("shows more rather than less when a compaction could not be read", () => {
    const { add, apply, shown } = started();
    add("a", "b", "c");
    // It has the summary of one that is lost.
    apply(compaction({ uuid: "summary" }, { uuid: "c" }, { uuid: "marker" }));
    expect(shown()).toEqual(["a0", "b1", "c2"]);
    apply(checkpoint("after", "marker", -1));
    apply(rollback("after", -1));
    expect(shown()).toEqual(["a0", "b1", "c2"]);
  });
});

function started() {
  const projection = new Projection();
  return {
    add: (...uuids: string[]): void => {
      for (const uuid of uuids) projection.add({ uuid, message: message(uuid) });
    },
    apply: (mark: TranscriptMark): void => projection.apply(mark),
    textOf: (uuid: string) => projection.items.find((item) => item.uuid === uuid)?.message.content[0],
    shown: (): string[] => projection.items.map(({ uuid, index }) => `${uuid}${index}`),
  };
}
