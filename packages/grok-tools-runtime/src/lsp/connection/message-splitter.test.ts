import { describe, expect, it } from "vitest";
import { MessageSplitter } from "./message-splitter.ts";

const bytes = (text: string): Buffer => Buffer.from(text);
const message = (body: string): string => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

describe("MessageSplitter", () => {
  it("finds messages however the stream is cut", () => {
    const stream = bytes(`${message('"é🙂"')}${message("")}${message("2")}`);
    for (let size = 1; size <= stream.length; size++) {
      const splitter = new MessageSplitter();
      const bodies: string[] = [];
      for (let start = 0; start < stream.length; start += size) {
        bodies.push(...splitter.push(stream.subarray(start, start + size)));
      }
      expect(bodies).toEqual(['"é🙂"', "2"]);
    }
  });

  it("reads the length among other headers, in any case", () => {
    const header = "Content-Type: application/vscode-jsonrpc\r\ncontent-length:1\r\n\r\n7";
    expect(new MessageSplitter().push(bytes(header))).toEqual(["7"]);
  });

  it.each([
    ["without a length", "Content-Type: x\r\n\r\n{}", "without a Content-Length"],
    ["that does not begin", "x".repeat(70_000), "with a Content-Length"],
    ["that is too large", "Content-Length: 99999999999\r\n\r\n", "more than"],
  ])("refuses a message %s", (_what, text, error) => {
    expect(() => new MessageSplitter().push(bytes(text))).toThrow(error);
  });
});
