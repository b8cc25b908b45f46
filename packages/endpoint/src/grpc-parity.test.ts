import { create, toBinary } from "@bufbuild/protobuf";
import { BytesValueSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEndpoint, type Endpoint } from "./endpoint.ts";
import { answerOf, envelope, openCall, type RawAnswer, rawHttp2 } from "./testing/raw-http2.ts";
import { shapesService } from "./testing/shapes.ts";

const message = (text: string): Buffer =>
  envelope(toBinary(BytesValueSchema, create(BytesValueSchema, { value: Buffer.from(text) })));

/** A call that says it takes gzip is left to Connect's handler, one that does not is taken by our own. */
const viaConnect = { "grpc-accept-encoding": "gzip" };

describe("gRPC calls on the lean path", () => {
  let endpoint: Endpoint;
  let url: string;

  beforeAll(async () => {
    endpoint = createEndpoint({
      compression: { onLoopback: true, minBytes: 1024 * 1024 },
      limits: { readMaxBytes: 1000, writeMaxBytes: 1000 },
      services: [
        shapesService({
          look({ value }, context) {
            context.responseHeader.set("x-head", "a");
            context.responseTrailer.set("x-tail", "b");
            const text = Buffer.from(value).toString();
            if (text === "status") throw new ConnectError("no such thing", Code.NotFound, { "x-why": "c" });
            if (text === "ours") throw new TriviumError("failedPrecondition", "not yet");
            if (text === "crash") throw new TypeError("secret");
            if (text === "large") return { value: new Uint8Array(2000) };
            return { value };
          },
          async *download({ value }, context) {
            const text = Buffer.from(value).toString();
            if (text === "early") throw new ConnectError("before the first", Code.Aborted);
            context.responseHeader.set("x-head", "a");
            yield { value };
            context.responseTrailer.set("x-tail", "b");
            if (text === "late") throw new ConnectError("after the first", Code.DataLoss);
            if (text === "large") yield { value: new Uint8Array(2000) };
            yield { value };
          },
        }),
      ],
    });
    ({ url } = await endpoint.listen());
  });
  afterAll(() => endpoint.close());

  const look = "/test.Shapes/Look";
  const download = "/test.Shapes/Download";
  const whole = message("hello");

  it.each([
    ["a unary answer", look, [whole]],
    ["a message in pieces", look, [whole.subarray(0, 3), whole.subarray(3, 8), whole.subarray(8)]],
    ["an empty message", look, [envelope(new Uint8Array(0))]],
    ["a status with metadata", look, [message("status")]],
    ["an error of ours", look, [message("ours")]],
    ["a crash, whose text stays inside", look, [message("crash")]],
    ["an answer past the limit", look, [message("large")]],
    ["a request past the limit", look, [envelope(new Uint8Array(1001))]],
    ["bytes that are no message", look, [envelope(Uint8Array.of(0x0f, 0xff))]],
    ["no message", look, []],
    ["two messages", look, [whole, whole]],
    ["half a message", look, [whole.subarray(0, 7)]],
    ["a streamed answer", download, [whole]],
    ["a stream that fails before its first message", download, [message("early")]],
    ["a stream that fails later", download, [message("late")]],
    ["a stream with a message past the limit", download, [message("large")]],
    ["no message for a stream", download, []],
    ["two messages for a stream", download, [whole, whole]],
  ])("are answered as Connect answers them: %s", async (_name, path, pieces) => {
    const answer = async (headers: Record<string, string>): Promise<unknown> => {
      await using client = await rawHttp2(url);
      const stream = openCall(client.session, path, headers);
      for (const piece of pieces) stream.write(piece);
      stream.end();
      return comparable(await answerOf(stream));
    };
    expect(await answer({})).toEqual(await answer(viaConnect));
  });

  it("abort the handler's signal at the end and on the deadline", async () => {
    const reasons: unknown[] = [];
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    await using other = createEndpoint({
      services: [
        shapesService({
          async look({ value }, context) {
            context.signal.addEventListener("abort", () => {
              reasons.push(ConnectError.from(context.signal.reason).code);
              if (reasons.length === 2) end();
            });
            if (value.byteLength === 0) return { value };
            return await new Promise((_, reject) => {
              context.signal.addEventListener("abort", () => reject(context.signal.reason));
            });
          },
        }),
      ],
    });
    const { url: address } = await other.listen();
    await using client = await rawHttp2(address);
    const first = openCall(client.session, look);
    first.end(envelope(new Uint8Array(0)));
    expect((await answerOf(first)).trailers["grpc-status"]).toBe("0");
    const second = openCall(client.session, look, { "grpc-timeout": "50m" });
    second.end(whole);
    const { headers } = await answerOf(second);
    expect(headers["grpc-status"]).toBe(String(Code.DeadlineExceeded));
    await ended;
    expect(reasons).toEqual([Code.Canceled, Code.DeadlineExceeded]);
  });
});

/** Without what differs between any two calls, and what tells of the negotiation. */
function comparable({ headers, body, trailers, rstCode }: RawAnswer): unknown {
  const { date: _date, "x-request-id": _id, "grpc-encoding": _encoding, ...head } = headers;
  return { head: { ...head }, body: body.toString("hex"), trailers: { ...trailers }, rstCode };
}
