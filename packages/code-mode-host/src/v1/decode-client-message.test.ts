import { describe, expect, it } from "vitest";
import { decodeClientMessage } from "./decode-client-message.ts";

const decode = (text: string) => decodeClientMessage(Buffer.from(text));
const wait = (fields: string) =>
  `{"type":"operation/request","id":1,"request":{"method":"session/wait","sessionId":"s","request":{${fields}}}}`;
const open = (fields: string) =>
  `{"type":"operation/request","id":1,"request":{"method":"session/open","sessionId":"s"${fields}}}`;

describe("a client's message", () => {
  it("may have its keys in any order, escaped, with space between", () => {
    expect(decode(' { "\\u0069d" : -9223372036854775808 , "type" : "operation/cancel" } \n')).toEqual({
      type: "operation/cancel",
      id: -(2n ** 63n),
    });
  });

  it("keeps the text of a tool's result", () => {
    const json = '{"big": 12345678901234567890, "nested": [1.0, "]}\\"", {}]}';
    const text = `{"type":"delegate/response","id":1,"result":{"status":"ok","value":{"result":${json},"type":"tool/result"}}}`;
    expect(decode(text)).toMatchObject({ result: { type: "tool-result", json } });
  });

  it("takes numbers beyond 2^53 - 1 for that, and null for absent", () => {
    expect(decode(wait('"cell_id":"","yield_time_ms":18446744073709551615'))).toMatchObject({
      request: { cellId: "", yieldTimeMs: Number.MAX_SAFE_INTEGER, maxOutputTokens: undefined },
    });
    expect(
      decode(open(',"cellExecutionLimits":{"maxHeapSizeBytes":null},"outputTruncation":null')),
    ).toMatchObject({
      request: { outputMode: "unbounded", maxHeapSizeBytes: undefined },
    });
  });

  it.each([
    ["an empty payload", ""],
    ["two values", "{} {}"],
    ["an array", "[]"],
    ["a repeated key", '{"type":"operation/yield","id":1,"id":1}'],
    ["a repeated key in other letters", '{"type":"operation/yield","id":1,"\\u0069d":1}'],
    ["an unknown key", '{"type":"operation/yield","id":1,"x":null}'],
    ["an unknown type", '{"type":"operation/nope","id":1}'],
    ["an id with a fraction", '{"type":"operation/yield","id":1.0}'],
    ["an id with an exponent", '{"type":"operation/yield","id":1e0}'],
    ["an id as a text", '{"type":"operation/yield","id":"1"}'],
    ["an id out of range", '{"type":"operation/yield","id":9223372036854775808}'],
    ["a missing time", wait('"cell_id":"1"')],
    ["a negative time", wait('"cell_id":"1","yield_time_ms":-1')],
    ["a lone surrogate", wait('"cell_id":"\\ud800","yield_time_ms":1')],
    ["an unknown truncation", open(',"outputTruncation":"both"')],
    ["a limit out of range", open(',"cellExecutionLimits":{"maxYieldTimeMs":18446744073709551616}')],
    [
      "a blank session",
      '{"type":"operation/request","id":1,"request":{"method":"session/shutdown","sessionId":" "}}',
    ],
    ["an unknown status", '{"type":"delegate/response","id":1,"result":{"status":"maybe"}}'],
    [
      "a result without a value",
      '{"type":"delegate/response","id":1,"result":{"status":"ok","value":{"type":"tool/result"}}}',
    ],
  ])("cannot be %s", (_, text) => {
    expect(() => decode(text)).toThrow(expect.objectContaining({ name: "ProtocolError" }));
  });

  it("must be UTF-8", () => {
    expect(() => decodeClientMessage(Buffer.from('"\xff"', "latin1"))).toThrow("UTF-8");
  });
});
