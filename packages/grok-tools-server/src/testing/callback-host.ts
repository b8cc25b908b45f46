import { once } from "node:events";
import { constants, createServer, type ServerHttp2Session } from "node:http2";
import { type Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
// oxlint-disable-next-line no-restricted-imports -- plays a client that serves
import { connectNodeAdapter } from "@connectrpc/connect-node";
import {
  GrokToolsCallbackService,
  type SpawnSubagentRequest,
  type ToolNotificationMsg,
} from "@trivium/proto/grok-tools";

/** One subagent that a test ends. */
export interface RunningSubagent {
  readonly request: SpawnSubagentRequest;
  /** Aborts when the server cancels the call or is gone. */
  readonly signal: AbortSignal;
  answer(result: { success?: boolean; output?: string; error?: string; cancelled?: boolean }): void;
  fail(code: Code, message: string): void;
}

/** A callback service that records and does what a test says, over HTTP/2 on loopback. */
export interface FakeCallbackHost extends AsyncDisposable {
  readonly address: string;
  readonly port: number;
  readonly notifications: ToolNotificationMsg[];
  readonly headers: Headers[];
  readonly subagents: RunningSubagent[];
  /** What the next notifications are answered with; then they are taken. */
  readonly refusals: Code[];
  /** How many of the next subagents are refused before anybody looks at them. */
  unprocessed: number;
  /** Breaks every connection, as a process that dies does. */
  die(): void;
}

/** Starts a {@link FakeCallbackHost}. */
export async function fakeCallbackHost(port: number = 0): Promise<FakeCallbackHost> {
  const notifications: ToolNotificationMsg[] = [];
  const headers: Headers[] = [];
  const subagents: RunningSubagent[] = [];
  const refusals: Code[] = [];
  const sessions = new Set<ServerHttp2Session>();
  let unprocessed = 0;
  const adapter = connectNodeAdapter({
    routes: (router) =>
      router.service(GrokToolsCallbackService, {
        sendNotification(message, context: HandlerContext) {
          headers.push(context.requestHeader);
          const refusal = refusals.shift();
          notifications.push(message);
          if (refusal !== undefined) throw new ConnectError("not now", refusal);
          return {};
        },
        spawnSubagent(request, context: HandlerContext) {
          headers.push(context.requestHeader);
          return new Promise((resolve, reject) => {
            subagents.push({
              request,
              signal: context.signal,
              answer: resolve,
              fail: (code, message) => reject(new ConnectError(message, code)),
            });
          });
        },
      }),
  });
  const server = createServer((request, response) => {
    if (unprocessed === 0 || !request.url.endsWith("/SpawnSubagent")) {
      adapter(request, response);
      return;
    }
    unprocessed -= 1;
    request.stream.close(constants.NGHTTP2_REFUSED_STREAM);
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.on("error", () => {});
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  const boundPort = typeof bound === "object" && bound !== null ? bound.port : 0;
  const die = (): void => {
    server.close();
    for (const session of sessions) session.destroy();
  };
  return {
    address: `127.0.0.1:${boundPort}`,
    port: boundPort,
    notifications,
    headers,
    subagents,
    refusals,
    get unprocessed() {
      return unprocessed;
    },
    set unprocessed(count) {
      unprocessed = count;
    },
    die,
    [Symbol.asyncDispose]() {
      die();
      return Promise.resolve();
    },
  };
}
