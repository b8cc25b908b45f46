import { describe, expect, it } from "vitest";
import { formatResults, runChecks } from "./check.ts";

describe("runChecks", () => {
  it("goes on after a check that throws or hangs", async () => {
    const results = await runChecks(
      [
        { name: "a", run: () => Promise.reject(new Error("no such program")) },
        { name: "b", run: () => new Promise(() => {}) },
        { name: "c", run: () => Promise.resolve({ status: "warn", detail: "less" }) },
      ],
      5,
    );
    expect(results).toEqual([
      { name: "a", status: "fail", detail: "no such program" },
      { name: "b", status: "fail", detail: "no answer within 5 ms" },
      { name: "c", status: "warn", detail: "less" },
    ]);
  });
});

describe("formatResults", () => {
  it("aligns the columns", () => {
    expect(
      formatResults([
        { name: "port", status: "ok", detail: "free" },
        { name: "data folder", status: "fail", detail: "x" },
      ]),
    ).toBe("ok    port         free\nfail  data folder  x");
  });
});
