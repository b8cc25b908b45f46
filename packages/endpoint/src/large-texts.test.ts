import { once } from "node:events";
import type { ClientHttp2Stream } from "node:http2";
import { isDeepStrictEqual } from "node:util";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  CodeModeHost,
  type ExecuteEvent,
  ExecuteEventSchema,
  ExecuteRequestSchema,
} from "@trivium/proto/code-mode";
import { describe, expect, it } from "vitest";
import { createEndpoint } from "./endpoint.ts";
import { answerOf, envelope, openCall, rawHttp2 } from "./testing/raw-http2.ts";

const KIB = 1024;
/** Around the sizes at which a text has memory of its own, is cut in pieces, and waits for the reader. */
const SIZES = [64, 64.5, 127.9, 128, 128.1, 192, 256, 300, 700].map((size) => Math.ceil(size * KIB));

/** Every place in the texts of all calls looks different. */
function textOf(call: number, size: number): string {
  const piece = call % 2 === 0 ? "line" : "zeile é€😀";
  let text = "";
  for (let line = 0; text.length < size; line += 1) text += `${piece} ${call} ${size} ${line}\n`;
  return text.slice(0, size).toWellFormed();
}

function eventOf(call: number, size: number): ExecuteEvent {
  const text = textOf(call, size);
  const contentItems = [{ item: { case: "text", value: { text } } }] as const;
  return create(ExecuteEventSchema, {
    event: { case: "outcome", value: { cellId: `${call}`, contentItems: [...contentItems] } },
  });
}

function messagesIn(body: Buffer): ExecuteEvent[] {
  const messages: ExecuteEvent[] = [];
  for (let at = 0; at < body.length; ) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    messages.push(fromBinary(ExecuteEventSchema, new Uint8Array(body.subarray(at + 5, end))));
    at = end;
  }
  return messages;
}

/** Stops after every chunk until the event loop has gone round. */
function readSlowly(stream: ClientHttp2Stream): void {
  stream.on("data", () => {
    stream.pause();
    setImmediate(() => stream.resume());
  });
}

describe("large texts", () => {
  it("arrive whole, with slow and quick readers and calls that are reset on one connection", async () => {
    await using endpoint = createEndpoint({
      services: [
        (router) =>
          void router.service(CodeModeHost, {
            async *execute({ executionId }) {
              for (const size of SIZES) yield eventOf(Number(executionId), size);
            },
          }),
      ],
    });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const open = (call: number): ClientHttp2Stream => {
      const stream = openCall(client.session, `/${CodeModeHost.typeName}/Execute`);
      const request = create(ExecuteRequestSchema, { executionId: `${call}` });
      stream.end(envelope(toBinary(ExecuteRequestSchema, request)));
      return stream;
    };
    const calls = await Promise.all(
      [0, 1, 2, 3, 4, 5].map(async (call) => {
        const stream = open(call);
        if (call < 2) readSlowly(stream);
        const answer = answerOf(stream);
        if (call > 3) {
          // In the middle of a message.
          await once(stream, "data");
          stream.close(8);
        }
        return { call, stream, answer: await answer };
      }),
    );
    for (const { call, answer } of calls) {
      if (call > 3) continue;
      expect(answer.trailers["grpc-status"]).toBe("0");
      const expected = SIZES.map((size) => eventOf(call, size));
      // An assertion would print megabytes.
      expect(isDeepStrictEqual(messagesIn(answer.body), expected), `call ${call}`).toBe(true);
    }
  });
});
