import { describe, expect, it } from "vitest";
import { keptText } from "./kept-text.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const none = new Uint8Array();

describe("keptText", () => {
  it("gives everything that fits, head and tail joined", () => {
    expect(keptText({ head: bytes("ab"), tail: bytes("cd"), omittedBytes: 0 }, 4)).toEqual({
      text: "abcd",
      isTruncated: false,
    });
  });

  it("keeps both ends of what does not fit", () => {
    expect(keptText({ head: bytes("abcdef"), tail: none, omittedBytes: 0 }, 4)).toEqual({
      text: "ab\n[... 2 characters left out ...]\nef",
      isTruncated: true,
    });
    expect(keptText({ head: bytes("abc"), tail: bytes("xyz"), omittedBytes: 10 }, 4)).toEqual({
      text: "ab\n[... 10 bytes and more left out ...]\nyz",
      isTruncated: true,
    });
  });

  it("never shows half a character at a cut", () => {
    const { text } = keptText({ head: bytes("aé"), tail: bytes("é").subarray(1), omittedBytes: 5 }, 100);
    expect(text).toBe("aé\n[... 5 bytes and more left out ...]\n");
    expect(keptText({ head: bytes("a😀b"), tail: none, omittedBytes: 0 }, 3).text.isWellFormed()).toBe(true);
  });
});
