import { describe, expect, it } from "vitest";
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
    apply({
      type: "compaction",
      timestamp,
      trigger: "manual",
      messages: [{ uuid: "s", message: message("s") }, { uuid: "c" }],
    });
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
});

function started() {
  const projection = new Projection();
  return {
    add: (...uuids: string[]): void => {
      for (const uuid of uuids) projection.add({ uuid, message: message(uuid) });
    },
    apply: (mark: TranscriptMark): void => projection.apply(mark),
    shown: (): string[] => projection.items.map(({ uuid, index }) => `${uuid}${index}`),
  };
}
