import { describe, expect, it } from "vitest";
import { questionTimeoutMs } from "./question-timeout.ts";

const params = { timeout_enabled: null, timeout_secs: null };

describe("questionTimeoutMs", () => {
  it.each([
    [params, {}, 1_800_000],
    [{ ...params, timeout_secs: 2 }, {}, 2_000],
    [{ ...params, timeout_secs: 0 }, {}, 1_800_000],
    [params, { GROK_ASK_USER_QUESTION_TIMEOUT_SECS: "5" }, 5_000],
    [{ ...params, timeout_secs: 2 }, { GROK_ASK_USER_QUESTION_TIMEOUT_SECS: "5" }, 2_000],
    [{ timeout_enabled: false, timeout_secs: 2 }, {}, undefined],
  ])("%j with %j is %j", (given, environment, expected) => {
    expect(questionTimeoutMs(given, environment)).toBe(expected);
  });

  it.each([1e12, 1e300])("of %d seconds still has an end that a date can be", (timeout_secs) => {
    const ms = questionTimeoutMs({ ...params, timeout_secs }, {});
    expect(ms).toBeGreaterThan(365 * 86_400_000);
    expect(new Date(Date.UTC(2026, 0) + (ms ?? 0)).getUTCFullYear()).toBeLessThan(9999);
  });
});
