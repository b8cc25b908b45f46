import { describe, expect, it } from "vitest";
import { FileReadTracker } from "./file-read-tracker.ts";

const seen = { path: "/a", stats: { mtimeMs: 1000.7, size: 9 }, sha256: "aa" };

describe("FileReadTracker", () => {
  it("gives back from its saved state what it knew", () => {
    const tracker = new FileReadTracker();
    tracker.record({ ...seen, range: [5, 9] });
    tracker.record({ ...seen, range: [1, 4] });
    const saved = tracker.save();
    expect(saved).toEqual({ files: { "/a": { mtime_ms: 1000, size: 9, sha256: "aa", ranges: [[1, 9]] } } });
    const other = new FileReadTracker();
    expect(other.load(saved!)).toBe(true);
    expect(other.stateOf(seen)).toBe("unchanged");
    expect(other.stateOf({ ...seen, sha256: "bb" })).toBe("changed");
    expect(other.stateOf({ ...seen, path: "/b" })).toBe("never-read");
  });

  it("forgets the lines of a content that is gone", () => {
    const tracker = new FileReadTracker();
    tracker.record({ ...seen, range: [1, 4] });
    tracker.record({ ...seen, sha256: "bb", range: [8, 9] });
    expect(tracker.save()).toMatchObject({ files: { "/a": { ranges: [[8, 9]] } } });
  });

  it("compares size and time where the content was not hashed", () => {
    const tracker = new FileReadTracker();
    tracker.record({ ...seen, sha256: undefined });
    expect(tracker.stateOf(seen)).toBe("unchanged");
    expect(tracker.stateOf({ ...seen, stats: { mtimeMs: 2000, size: 9 } })).toBe("changed");
  });

  it.each([
    null,
    {},
    { files: [] },
    { files: { "/a": { size: 1 } } },
    { files: { "/a": { ...seen, ranges: [[1]] } } },
  ])("does not take over %j", (value) => {
    const tracker = new FileReadTracker();
    tracker.record(seen);
    expect(tracker.load(value as never)).toBe(false);
    expect(tracker.stateOf(seen)).toBe("unchanged");
  });
});
