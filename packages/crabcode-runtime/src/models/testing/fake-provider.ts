import { once } from "node:events";
// A stand-in for a remote provider, for tests only.
// oxlint-disable-next-line no-restricted-imports
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { chatError, chatEvents } from "./chat-grammar.ts";
import type { FakeAnswer } from "./fake-answer.ts";
import { messagesError, messagesEvents } from "./messages-grammar.ts";
import { responsesEvents } from "./responses-grammar.ts";

/** One reply of the fake provider: an answer, perhaps spoilt, or a refusal. */
export interface FakeReply extends FakeAnswer {
  /** Refuses with this status instead of answering. */
  readonly refusal?: {
    readonly status: number;
    readonly message: string;
    readonly type?: string;
    readonly headers?: Readonly<Record<string, string>>;
  };
  /** Sends this many events, then resets the connection. */
  readonly resetAfterEvents?: number;
  /** Sends this many events, then ends the response as if it were complete. */
  readonly endAfterEvents?: number;
  /** Sends this many events, then nothing more until the client leaves. */
  readonly stallAfterEvents?: number;
  /** Puts text that is no event of the API between the first event and the second. */
  readonly noise?: string;
  /** Default `text/event-stream`. */
  readonly contentType?: string;
  /** Writes pieces of this many bytes, so that characters and frames are torn. */
  readonly bytesPerWrite?: number;
}

/** A request as it arrived. */
export interface FakeRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into arbitrary provider bodies
  readonly body: any;
}

/** A provider on loopback that speaks Chat Completions, Responses and Messages, for tests. */
export interface FakeProvider extends AsyncDisposable {
  /** With `/v1`, without a slash at the end. */
  readonly baseUrl: string;
  readonly requests: readonly FakeRequest[];
  /** Resolves when a client has left a stalled reply. */
  readonly clientLeft: Promise<void>;
}

/** Starts a provider that gives `replies` in order, then refuses with 400. */
export async function startFakeProvider(replies: readonly FakeReply[]): Promise<FakeProvider> {
  const queue = [...replies];
  const requests: FakeRequest[] = [];
  const left = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    response.on("close", () => {
      if (!response.writableFinished) left.resolve();
    });
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const piece of request.setEncoding("utf8")) text += String(piece);
    const path = request.url ?? "";
    const body = JSON.parse(text) as { model: string };
    requests.push({ path, headers: request.headers, body });
    const grammar = grammarOf(path);
    const reply = queue.shift() ?? { refusal: { status: 400, message: "the script is exhausted" } };
    if (reply.refusal !== undefined) {
      const { status, message, type = "invalid_request_error", headers = {} } = reply.refusal;
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(grammar.refusal(message, type)));
      return;
    }
    response.writeHead(200, { "content-type": reply.contentType ?? "text/event-stream" });
    await play(grammar.events(reply, body.model), reply, response);
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the fake provider has no port");
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    requests,
    clientLeft: left.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** How one API writes answers and refusals. */
interface Grammar {
  readonly events: (answer: FakeAnswer, model: string) => string[];
  readonly refusal: (message: string, type: string) => object;
}

function grammarOf(path: string): Grammar {
  if (path.endsWith("/messages")) return { events: messagesEvents, refusal: messagesError };
  const refusal = (message: string): object => chatError(message, null);
  return { events: path.endsWith("/responses") ? responsesEvents : chatEvents, refusal };
}

async function play(events: string[], reply: FakeReply, response: ServerResponse): Promise<void> {
  if (reply.noise !== undefined) events.splice(1, 0, reply.noise);
  const limit = reply.resetAfterEvents ?? reply.endAfterEvents ?? reply.stallAfterEvents ?? events.length;
  for (const event of events.slice(0, limit)) {
    const bytes = Buffer.from(event);
    const step = reply.bytesPerWrite ?? bytes.length;
    for (let start = 0; start < bytes.length; start += step) {
      await new Promise<void>((resolve) => {
        response.write(bytes.subarray(start, start + step), () => resolve());
      });
    }
  }
  if (reply.stallAfterEvents !== undefined) return;
  if (reply.resetAfterEvents !== undefined) response.socket?.destroy();
  else response.end();
}
