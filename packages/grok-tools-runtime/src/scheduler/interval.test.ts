import { describe, expect, it } from "vitest";
import { describeInterval, parseInterval } from "./interval.ts";

describe("parseInterval", () => {
  it.each([
    ["5m", 300],
    [" 2h ", 7_200],
    ["1d", 86_400],
    ["90s", 90],
    ["30s", 60],
    ["1s", 60],
  ])("reads %j as %d seconds", (text, seconds) => {
    expect(parseInterval(text)).toBe(seconds);
  });

  it.each(["", "0m", "5x", "5é", "5M", "m", "-5m", "1.5h", "5 m", "99999999999999999999d", "1e3s"])(
    "refuses %j",
    (text) => {
      expect(parseInterval(text)).toBeUndefined();
    },
  );
});

describe("describeInterval", () => {
  it.each([
    [60, "every 1 minute"],
    [90, "every 90 seconds"],
    [300, "every 5 minutes"],
    [3_600, "every 1 hour"],
    [7_200, "every 2 hours"],
    [86_400, "every 1 day"],
    [90_000, "every 25 hours"],
  ])("writes %d seconds as %s", (seconds, text) => {
    expect(describeInterval(seconds)).toBe(text);
  });
});
