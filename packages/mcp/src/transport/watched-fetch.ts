import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { TriviumError } from "@trivium/core";

/** Bytes of one answer, and of one event of a stream that is open all the time. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/**
 * A `fetch` that limits answers and tells when the event stream that was to bring an answer is over.
 *
 * The protocol library waits for ever when such a stream ends without the answer. Streams with event ids are left to
 * it: it asks for the rest of them.
 */
export function watchedFetch(onStreamEnd: (requestId: unknown) => void): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    if (init?.method !== "POST") return new Response(limitEvents(response.body), response);
    const isEventStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const requestId = isEventStream ? requestIdOf(init.body) : undefined;
    const body = watch(response.body, () => {
      if (requestId !== undefined) onStreamEnd(requestId);
    });
    return new Response(body, response);
  };
}

/** A `fetch` that limits each event of a stream. */
export const limitedFetch: FetchLike = async (url, init) => {
  const response = await fetch(url, init);
  return response.body === null ? response : new Response(limitEvents(response.body), response);
};

function watch(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let length = 0;
  let isResumable = false;
  const finish = (): void => {
    if (!isResumable) onEnd();
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (done) {
          controller.close();
          finish();
          return;
        }
        length += value.length;
        if (length > MAX_ANSWER_BYTES) {
          await reader.cancel();
          throw new TriviumError("outOfRange", `the answer has more than ${MAX_ANSWER_BYTES} bytes`);
        }
        // An id stands at the beginning of an event, and events come as pieces of their own.
        isResumable ||= /^id:/m.test(Buffer.from(value.subarray(0, 256)).toString("latin1"));
        controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        finish();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Ends a stream with an error when one of its events, which the library keeps until it is complete, is too large. */
function limitEvents(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let length = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
      // The empty line that ends an event. One that is split between two pieces only makes the count a little higher.
      const end = Math.max(text.lastIndexOf("\n\n"), text.lastIndexOf("\r\n\r\n"), text.lastIndexOf("\r\r"));
      length = end === -1 ? length + chunk.length : chunk.length - end;
      if (length > MAX_ANSWER_BYTES) {
        throw new TriviumError("outOfRange", `an event has more than ${MAX_ANSWER_BYTES} bytes`);
      }
      controller.enqueue(chunk);
    },
  });
  return body.pipeThrough(limit);
}

function requestIdOf(body: RequestInit["body"]): unknown {
  if (typeof body !== "string") return undefined;
  const message: unknown = JSON.parse(body);
  return typeof message === "object" && message !== null && "id" in message ? message.id : undefined;
}
