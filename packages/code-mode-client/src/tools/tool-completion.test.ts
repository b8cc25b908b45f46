import { describe, expect, it } from "vitest";
import { failure, success } from "./tool-completion.ts";

function sent(result: unknown): string {
  const { case: kind, value } = success(result);
  if (kind !== "succeeded") throw new Error(`it failed: ${JSON.stringify(value)}`);
  return new TextDecoder().decode(value.outputJson);
}

const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));

describe("a result", () => {
  it.each([
    [{ a: [1, "b"] }, '{"a":[1,"b"]}'],
    [undefined, "null"],
    ["🌍 \\ud83d", '"🌍 \\\\ud83d"'],
    ["a\ud83d", '"a\uFFFD"'],
    [{ "\udc00": "\ud83d\n\ud83d" }, '{"\uFFFD":"\uFFFD\\n\uFFFD"}'],
    ["\\\ud83d", '"\\\\\uFFFD"'],
  ])("%j is sent as %s", (result, expected) => {
    expect(sent(result)).toBe(expected);
  });

  it("is taken up to 127 levels, and is a failure beyond", () => {
    expect(sent(nested(127))).toHaveLength(254);
    expect(success(nested(128))).toMatchObject({
      case: "failed",
      value: { message: expect.stringMatching(/128 levels/) },
    });
    expect(sent([`["[[`, "\\", ...Array.from({ length: 200 }, () => "[{")])).toContain("[{");
  });

  it("larger than a message is a failure", () => {
    expect(success("x".repeat(64 * 1024 * 1024))).toMatchObject({
      case: "failed",
      value: { message: expect.stringMatching(/bytes/) },
    });
  });
});

describe("a failure", () => {
  it("holds no half of a character and fits in a message", () => {
    expect(failure("a\ud83d").value).toMatchObject({ message: "a\uFFFD" });
    expect(failure("x".repeat(65 * 1024 * 1024)).value).toMatchObject({
      message: expect.stringMatching(/^the tool failed/),
    });
  });
});
