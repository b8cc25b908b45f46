import { randomBytes } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { gzipCompression } from "./gzip.ts";

const KIB = 1024;

describe("gzipCompression", () => {
  it.each([0, 1, 64 * KIB, 300 * KIB])("restores %i bytes, which are the limit", async (length) => {
    const bytes = randomBytes(length);
    const compressed = await gzipCompression.compress(bytes);
    expect(gunzipSync(compressed)).toEqual(bytes);
    expect(Buffer.from(await gzipCompression.decompress(compressed, Math.max(1, length)))).toEqual(bytes);
  });

  it("takes an empty message that was not compressed at all", async () => {
    expect(await gzipCompression.decompress(new Uint8Array(), 10)).toHaveLength(0);
  });

  it.each([
    ["on this thread", Buffer.alloc(16 * KIB * KIB)],
    ["on another thread", Buffer.concat([randomBytes(70 * KIB), Buffer.alloc(16 * KIB * KIB)])],
  ])("stops inflating at the limit: %s", async (_where, bytes) => {
    const bomb = gzipSync(bytes);
    await expect(gzipCompression.decompress(bomb, 1_000_000)).rejects.toMatchObject({
      code: Code.ResourceExhausted,
      rawMessage: "message size is larger than configured readMaxBytes 1000000",
    });
  });

  it("says so when the bytes are something else", async () => {
    await expect(gzipCompression.decompress(Buffer.from("nope"), 10)).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
  });
});
