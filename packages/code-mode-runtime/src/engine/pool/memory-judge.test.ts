import { describe, expect, it } from "vitest";
import { MemoryJudge, residentBytes } from "./memory-judge.ts";

const mebibyte = 1024 * 1024;
const budget = { headroomBytes: 500 * mebibyte, maxBytes: 2000 * mebibyte };

describe("MemoryJudge", () => {
  it("allows the headroom and the limits of the live cells, up to the maximum", () => {
    const judge = new MemoryJudge(budget);
    expect(judge.judge(700 * mebibyte, [200 * mebibyte])).toBe("fine");
    expect(judge.judge(2000 * mebibyte, Array(50).fill(512 * mebibyte))).toBe("fine");
    expect(judge.judge(2001 * mebibyte, Array(50).fill(512 * mebibyte))).toBe("relieve");
  });

  it("ends one program, then waits while memory does not grow", () => {
    const judge = new MemoryJudge(budget);
    expect(judge.judge(600 * mebibyte, [])).toBe("relieve");
    expect(judge.judge(610 * mebibyte, [])).toBe("wait");
    expect(judge.judge(550 * mebibyte, [])).toBe("wait");
    expect(judge.judge(700 * mebibyte, [])).toBe("relieve");
  });

  it("begins anew when memory has come back", () => {
    const judge = new MemoryJudge(budget);
    expect(judge.judge(600 * mebibyte, [])).toBe("relieve");
    expect(judge.judge(400 * mebibyte, [])).toBe("fine");
    expect(judge.judge(601 * mebibyte, [])).toBe("relieve");
  });

  it("kills beyond the spikes that V8 makes on its own", () => {
    expect(new MemoryJudge(budget).judge(1525 * mebibyte, [])).toBe("kill");
  });
});

describe("residentBytes", () => {
  it("is known for this process and 0 for one that is not there", () => {
    expect(residentBytes(process.pid)).toBeGreaterThan(10 * mebibyte);
    expect(residentBytes(2 ** 30)).toBe(0);
  });
});
