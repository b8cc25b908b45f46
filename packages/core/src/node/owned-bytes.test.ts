import { describe, expect, it } from "vitest";
import { allocateBytes, freeBytes } from "./owned-bytes.ts";

describe("allocateBytes", () => {
  it("gives large memory back when that is asked for", () => {
    const bytes = allocateBytes(1024 * 1024);
    const part = bytes.subarray(10, 20);
    freeBytes(part);
    expect([bytes.length, part.length]).toEqual([0, 0]);
    freeBytes(bytes);
  });

  it("leaves memory alone that may belong to others", () => {
    const small = allocateBytes(100);
    const foreign = Buffer.alloc(1024 * 1024);
    freeBytes(small);
    freeBytes(foreign);
    expect([small.length, foreign.length]).toEqual([100, 1024 * 1024]);
  });
});
