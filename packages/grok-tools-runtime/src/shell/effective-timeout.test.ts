import { describe, expect, it } from "vitest";
import { effectiveTimeout } from "./effective-timeout.ts";
import { type ShellParams, shellParams } from "./shell-params.ts";

const ask = (
  timeoutMs: number | undefined,
  params: Partial<ShellParams> = {},
  more: { isBackground?: boolean; environment?: Record<string, string> } = {},
) =>
  effectiveTimeout({
    timeoutMs,
    isBackground: false,
    environment: {},
    params: { ...shellParams.schema.parse({}), ...params },
    ...more,
  });

describe("effectiveTimeout", () => {
  it.each([
    [undefined, {}, 120_000],
    [0, {}, 120_000],
    [5000, {}, 5000],
    [500_000, {}, 300_000],
    [undefined, { timeout_secs: 10 }, 10_000],
    [undefined, { timeout_secs: -1 }, 120_000],
    [undefined, { timeout_secs: 500 }, 300_000],
    [undefined, { timeout_secs: 500, max_timeout_secs: 600 }, 500_000],
    [590_000, { timeout_secs: 10, max_timeout_secs: 600 }, 300_000],
    [590_000, { timeout_secs: 400, max_timeout_secs: 600 }, 400_000],
    [undefined, { max_timeout_secs: 0 }, 1],
  ])("in the foreground of %j with %j is %j", (timeoutMs, params, runMs) => {
    expect(ask(timeoutMs, params)).toEqual({ runMs, isMaxRunTime: false, blockMs: undefined });
  });

  it("lets the server's environment lift the clamp of waiting calls", () => {
    const environment = { GROK_MAX_FOREGROUND_BLOCK_MS: "550000" };
    expect(ask(590_000, { max_timeout_secs: 600 }, { environment }).runMs).toBe(550_000);
  });

  it.each([
    [undefined, 36_000_000, true],
    [0, 36_000_000, true],
    [500_000, 500_000, false],
    [99_000_000, 36_000_000, false],
  ])("in the background of %j is %j", (timeoutMs, runMs, isMaxRunTime) => {
    expect(ask(timeoutMs, {}, { isBackground: true })).toEqual({ runMs, isMaxRunTime, blockMs: undefined });
  });

  it.each([
    [undefined, null, 15_000],
    [2000, null, 2000],
    [undefined, 300, 300],
    [undefined, 0, 120_000],
  ])("with automatic background of %j and a budget of %j waits %j", (timeoutMs, budgetMs, blockMs) => {
    const params = { auto_background_on_timeout: true, foreground_block_budget_ms: budgetMs };
    expect(ask(timeoutMs, params)).toEqual({ runMs: 36_000_000, isMaxRunTime: true, blockMs });
  });
});
