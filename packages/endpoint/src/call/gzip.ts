import { promisify } from "node:util";
import { gunzip, gunzipSync, gzip, gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "./connect-protocol.ts";

const gzipAsync = promisify(gzip);
const gunzipAsync = promisify(gunzip);

/** Up to here the call on this thread costs less than the way to another one and back. */
const SYNC_MAX_BYTES = 64 * 1024;

/** gzip at its fastest level; inflating stops at the read limit instead of after it. */
export const gzipCompression: Compression = {
  name: "gzip",
  async compress(bytes) {
    const options = { level: 1 };
    return bytes.byteLength <= SYNC_MAX_BYTES ? gzipSync(bytes, options) : await gzipAsync(bytes, options);
  },
  async decompress(bytes, readMaxBytes) {
    if (bytes.byteLength === 0) return new Uint8Array(0);
    const options = { maxOutputLength: readMaxBytes };
    try {
      return bytes.byteLength <= SYNC_MAX_BYTES
        ? gunzipSync(bytes, options)
        : await gunzipAsync(bytes, options);
    } catch (cause) {
      if (cause instanceof Error && "code" in cause && cause.code === "ERR_BUFFER_TOO_LARGE") {
        // The words of Connect for the same excess without compression.
        const message = `message size is larger than configured readMaxBytes ${readMaxBytes}`;
        throw new ConnectError(message, Code.ResourceExhausted, undefined, undefined, cause);
      }
      throw new ConnectError("the message is not gzip", Code.InvalidArgument, undefined, undefined, cause);
    }
  },
};
