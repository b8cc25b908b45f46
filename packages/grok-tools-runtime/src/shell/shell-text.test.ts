import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isBareEcho } from "./bare-echo.ts";
import { humanSize } from "./human-size.ts";
import { cutOutput, keptBytesFor, softWrap, toPlainText } from "./shell-text.ts";

describe("toPlainText", () => {
  it.each([
    ["\u001B[31mred\u001B[0m", "red"],
    ["\u001B]0;title\u0007text", "text"],
    ["a\tb\u0007c", "a\tbc"],
    ["a\r\nb\r\n", "a\nb\n"],
    ["10%\r20%\r100%\ndone", "100%\ndone"],
    ["10%\r", "10%"],
    ["\u001B(Bx", "x"],
  ])("of %j is %j", (output, text) => {
    expect(toPlainText(output)).toBe(text);
  });
});

describe("softWrap", () => {
  it("drops nothing and leaves no line longer than 2000 characters", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom("x", "é", "😀", "\n"), fc.nat(3000))), (runs) => {
        const text = runs.map(([character, count]) => character.repeat(count)).join("");
        const wrapped = softWrap(text);
        expect(wrapped.replaceAll("\n", "")).toBe(text.replaceAll("\n", ""));
        expect(Math.max(...wrapped.split("\n").map((line) => Array.from(line).length))).toBeLessThanOrEqual(
          2000,
        );
      }),
      { numRuns: 30 },
    );
  });
});

describe("cutOutput", () => {
  it("gives the same however much was kept", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 120 }),
        fc.integer({ min: 1, max: 60 }),
        (text, limit) => {
          const bytes = Buffer.from(text);
          const kept = keptBytesFor(limit);
          const head = bytes.subarray(0, kept);
          const tail = bytes.subarray(Math.max(head.length, bytes.length - kept));
          const omittedBytes = bytes.length - head.length - tail.length;
          const partial = cutOutput({ head, tail, omittedBytes }, limit);
          const whole = cutOutput({ head: bytes, tail: new Uint8Array(), omittedBytes: 0 }, limit);
          expect(partial.text).toBe(whole.text);
          expect(partial.isTruncated).toBe(whole.isTruncated);
          if (!text.includes("\uFFFD")) expect(partial.text).not.toContain("\uFFFD");
        },
      ),
    );
  });

  it("leaves bytes that are no text alone while they fit", () => {
    const head = Uint8Array.of(0x61, 0xff, 0x62);
    expect(cutOutput({ head, tail: new Uint8Array(), omittedBytes: 0 }, 10).bytes).toEqual(head);
  });
});

describe("isBareEcho", () => {
  it.each(["echo hello", "printf 'a b'", "echo"])("is true for %j", (command) => {
    expect(isBareEcho(command)).toBe(true);
  });
  it.each(["echo $A", "echo a > b", "echo a; ls", "echo `ls`", "echoes", `echo ${"a".repeat(600)}`])(
    "is false for %j",
    (command) => {
      expect(isBareEcho(command)).toBe(false);
    },
  );
});

describe("humanSize", () => {
  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1.0 KB"],
    [1_048_524, "1023.9 KB"],
    [1_048_525, "1.0 MB"],
    [5 * 1024 ** 3, "5.0 GB"],
  ])("of %d is %s", (byteCount, text) => {
    expect(humanSize(byteCount)).toBe(text);
  });
});
