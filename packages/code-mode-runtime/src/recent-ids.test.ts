import { describe, expect, it } from "vitest";
import { RecentIds } from "./recent-ids.ts";

function idsWith(capacity: number, ...added: string[]): RecentIds {
  const ids = new RecentIds(capacity);
  for (const id of added) ids.add(id);
  return ids;
}

describe("RecentIds", () => {
  it("forgets the oldest beyond its number, again and again", () => {
    const all = Array.from({ length: 10_000 }, (_, index) => String(index));
    const ids = idsWith(100, ...all);
    expect(all.filter((id) => ids.has(id))).toEqual(all.slice(-100));
  });

  it("counts an id that is added twice once", () => {
    const ids = idsWith(2, "a", "a", "b");
    expect([ids.has("a"), ids.has("b")]).toEqual([true, true]);
  });

  it("does not count what was deleted", () => {
    const ids = idsWith(2, "a", "b");
    expect([ids.delete("a"), ids.delete("a")]).toEqual([true, false]);
    ids.add("c");
    ids.add("a");
    expect(["a", "b", "c"].map((id) => ids.has(id))).toEqual([true, false, true]);
  });
});
