import { describe, expect, it } from "vitest";
import { encodeFrame, MAX_PAYLOAD_BYTES, readFrames } from "./frame.ts";

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function texts(chunks: AsyncIterable<Uint8Array>): Promise<string[]> {
  const payloads: string[] = [];
  for await (const payload of readFrames(chunks)) payloads.push(payload.toString());
  return payloads;
}

describe("frames", () => {
  it("carry their length in front, in little-endian order", () => {
    expect(encodeFrame('{"value":1}').toString("hex")).toBe("0b0000007b2276616c7565223a317d");
  });

  it.each([1, 2, 3, 5, 1000])("are found in pieces of %i bytes", async (size) => {
    const bytes = Buffer.concat(['{"a":"é"}', "", "[1]"].map(encodeFrame));
    expect(await texts(inPieces(bytes, size))).toEqual(['{"a":"é"}', "", "[1]"]);
  });

  it("may be as long as the limit", async () => {
    const frame = Buffer.concat([Buffer.from([0, 0, 0, 4]), Buffer.alloc(MAX_PAYLOAD_BYTES, " ")]);
    const lengths: number[] = [];
    for await (const payload of readFrames(inPieces(frame, 1 << 20))) lengths.push(payload.length);
    expect(lengths).toEqual([MAX_PAYLOAD_BYTES]);
  });

  it("beyond it are refused before their payload comes", async () => {
    const announced = Buffer.from([1, 0, 0, 4]);
    await expect(texts(inPieces(announced, 4))).rejects.toThrow(
      `${MAX_PAYLOAD_BYTES + 1} bytes was announced`,
    );
  });

  it.each([1, 3, 4, 6])("cut after %i bytes are an error", async (length) => {
    const bytes = encodeFrame("[1]").subarray(0, length);
    await expect(texts(inPieces(bytes, 100))).rejects.toThrow("ended within a frame");
  });
});
