import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { CellOutput } from "../engine/cell-engine.ts";
import { RetainedOutput } from "./retained-output.ts";

const text = (value: string): CellOutput => ({ type: "text", text: value });
const image = (url: string): CellOutput => ({ type: "image", url, detail: "high" });
const note = (counts: string) => `[Code Mode session output limit reached: omitted ${counts}]`;
const KIB = 1024;

/** What lives on the heap, without garbage. */
function residentHeapBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") collect();
  return process.memoryUsage().heapUsed;
}

function retained(items: readonly CellOutput[], errorText?: string): string[] {
  const output = new RetainedOutput();
  for (const item of items) output.add(item);
  return output.take(errorText).items.map((item) => (item.type === "text" ? item.text : item.url));
}

describe("retained output", () => {
  it("is everything below the limits", () => {
    expect(retained([text("a"), image("data:x"), text("b")], "oops")).toEqual([
      "a",
      "data:x",
      "b",
      "Script error:\noops",
    ]);
  });

  it("keeps the head and the tail of the text", () => {
    const items = retained([0, 1, 2, 3, 4].map((index) => text("z".repeat(300_000) + index)));
    expect(items.map((item) => item.length)).toEqual([300_001, 224_287, 119, 224_287, 300_001]);
    expect(items[2]).toBe(note("451429 text bytes; discarded 2 text segments, 0 images, 0 audio items"));
  });

  it("counts a text that is cut in two as one that was discarded when its rest falls out", () => {
    const items = retained([text("x".repeat(KIB * KIB)), text("y".repeat(KIB * KIB))]);
    expect(items.map((item) => item.length)).toEqual([512 * KIB, 120, 512 * KIB]);
    expect(items[1]).toBe(note("1048576 text bytes; discarded 1 text segments, 0 images, 0 audio items"));
  });

  it("keeps 32768 items, its own note among them", () => {
    const items = retained(Array.from({ length: 40_000 }, () => text("x")));
    expect(items).toHaveLength(32_768);
    expect(items.filter((item) => item !== "x")).toEqual([
      note("7233 text bytes; discarded 7233 text segments, 0 images, 0 audio items"),
    ]);
  });

  it("keeps the first media", () => {
    const items = retained(
      Array.from({ length: 100 }, () => image(`data:image/png;base64,${"A".repeat(100_000)}`)),
    );
    expect(items).toHaveLength(84);
    expect(items[83]).toBe(note("0 text bytes; discarded 0 text segments, 17 images, 0 audio items"));
  });

  it("says each gap where it is: media between two gaps separate them", () => {
    const big = text("t".repeat(600 * KIB));
    const items = retained([big, image("data:kept"), text("u".repeat(600 * KIB)), text("end")]);
    const kinds = items.map((item) => (item.length > 200 ? item.slice(0, 1) : item));
    expect(kinds).toEqual([
      "t",
      note("90112 text bytes; discarded 1 text segments, 0 images, 0 audio items"),
      "data:kept",
      note("90115 text bytes; discarded 0 text segments, 0 images, 0 audio items"),
      "u",
      "end",
    ]);
  });

  it("holds no more for output that goes on and on, and says where all of it was", () => {
    const output = new RetainedOutput();
    output.add(image(`data:${"x".repeat(8 * KIB * KIB - 5)}`));
    const line = text("y".repeat(16 * KIB));
    const rounds = 20_000;
    let beforeBytes = 0;
    for (let round = 0; round < rounds; round++) {
      output.add(line);
      output.add(image("data:dropped"));
      if (round === 1000) beforeBytes = residentHeapBytes();
    }
    // A gap is some 100 bytes: 19 000 of them would show.
    expect(residentHeapBytes() - beforeBytes).toBeLessThan(KIB * KIB);
    const items = output.take(undefined).items.map((item) => (item.type === "text" ? item.text : item.url));
    const notes = items.filter((item) => item.startsWith("[Code Mode"));
    const sum = (pattern: RegExp) => notes.reduce((total, one) => total + Number(pattern.exec(one)?.[1]), 0);
    expect(items.filter((item) => item.startsWith("y"))).toHaveLength(64);
    expect(sum(/omitted (\d+) text/)).toBe((rounds - 64) * 16 * KIB);
    expect(sum(/(\d+) text segments/)).toBe(rounds - 64);
    expect(sum(/(\d+) images/)).toBe(rounds);
  });

  it("never cuts through a character", () => {
    const items = retained([text("🌍".repeat(400 * KIB))]);
    expect(items.map((item) => item.isWellFormed())).toEqual([true, true, true]);
    expect(items.map((item) => item.includes("\uFFFD"))).toEqual([false, false, false]);
  });

  it("starts anew with each observation", () => {
    const output = new RetainedOutput();
    for (let round = 0; round < 3; round++) {
      output.add(text("x".repeat(900 * KIB)));
      const { items } = output.take(undefined);
      expect(items.map((item) => (item.type === "text" ? item.text.length : 0))).toEqual([
        512 * KIB,
        388 * KIB,
      ]);
    }
  });
});
