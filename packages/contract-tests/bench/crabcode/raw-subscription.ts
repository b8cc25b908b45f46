import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { SubscribeRequestSchema } from "@trivium/proto/crabcode";

/** A subscription that counts messages instead of decoding them, so that the driver costs little. */
export interface RawSubscription {
  readonly stream: ClientHttp2Stream;
  readonly count: () => number;
  readonly bytes: () => number;
}

/** Connects without TLS; as the gRPC clients do. */
export function connectTo(url: string): ClientHttp2Session {
  return connect(url);
}

/** Subscribes to one session over gRPC. */
export function subscribeRaw(connection: ClientHttp2Session, sessionId: string): RawSubscription {
  const stream = connection.request({
    ":method": "POST",
    ":path": "/crabcode.CrabCodeService/SubscribeEvents",
    "content-type": "application/grpc",
    te: "trailers",
  });
  const message = toBinary(SubscribeRequestSchema, create(SubscribeRequestSchema, { sessionId }));
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([prefix, message]));
  let count = 0;
  let bytes = 0;
  /** The beginning of a message whose end is still to come. */
  let rest: Buffer = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    let data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (data.length >= 5) {
      const end = 5 + data.readUInt32BE(1);
      if (data.length < end) break;
      count++;
      data = data.subarray(end);
    }
    rest = data;
  });
  return { stream, count: () => count, bytes: () => bytes };
}

/** Waits until something holds, looking every few milliseconds. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
