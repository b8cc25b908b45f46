import { describe, expect, it } from "vitest";
import { parseExecSource } from "./parse-exec-source.ts";

describe("the source of an exec call", () => {
  it.each([
    ["text('hi')", { code: "text('hi')" }],
    ["// @exec: {\"yield_time_ms\": 10}\ntext('hi')", { code: "text('hi')", yieldTimeMs: 10 }],
    ["  // @exec: {}\nx", { code: "x" }],
    [
      '// @exec: {"yield_time_ms":0,"max_output_tokens":9007199254740991}\r\nx\ny',
      { code: "x\ny", yieldTimeMs: 0, maxOutputTokens: 9_007_199_254_740_991 },
    ],
    ['// @exec: {"yield_time_ms":null}\nx', { code: "x" }],
    ["//@exec: {}\nx", { code: "//@exec: {}\nx" }],
    ["x\n// @exec: {}", { code: "x\n// @exec: {}" }],
    ["\n// @exec: {}\nx", { code: "\n// @exec: {}\nx" }],
  ])("%j is understood", (source, expected) => {
    expect(parseExecSource(source)).toEqual(expected);
  });

  it.each([
    ["", /no source/],
    [" \n\t", /no source/],
    ['// @exec: {"yield_time_ms": 1}', /no source after/],
    ["// @exec: {}\n  \n", /no source after/],
    ["// @exec:\nx", /no JSON object/],
    ["// @exec: {\nx", /not valid JSON/],
    ["// @exec: [1]\nx", /must be a JSON object/],
    ["// @exec: null\nx", /must be a JSON object/],
    ['// @exec: {"yield_time_ms":1,"a":1,"b":2}\nx', /field a;/],
    ['// @exec: {"__proto__":1}\nx', /field __proto__;/],
    ['// @exec: {"yield_time_ms": -1}\nx', /is -1/],
    ['// @exec: {"yield_time_ms": 1.5}\nx', /is 1.5/],
    ['// @exec: {"max_output_tokens": "1"}\nx', /max_output_tokens .* is "1"/],
    ['// @exec: {"yield_time_ms": 9007199254740992}\nx', /whole number/],
  ])("%j is refused with words for the model", (source, message) => {
    expect(() => parseExecSource(source)).toThrow(message);
    expect(() => parseExecSource(source)).toThrow(expect.objectContaining({ kind: "invalidInput" }));
  });
});
