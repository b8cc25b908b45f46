import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { TriviumError } from "@trivium/core";
import { GrokToolsCallbackService, type ToolNotificationMsg } from "@trivium/proto/grok-tools";
import { errorInterceptor } from "@trivium/rpc";
import type { CallbackAddress } from "../callback-address.ts";
import { parseNotification, type ToolNotification } from "../notification.ts";
import { NotificationTurns } from "./notification-turns.ts";
import { secretInterceptor } from "./secret-interceptor.ts";
import { type SubagentResult, type SubagentTask, toResultMessage, toSubagentTask } from "./subagent.ts";

/** Notifications carry whole files, twice. */
const READ_MAX_BYTES = 64 * 1024 * 1024;

/** Where a notification comes from. */
export interface NotificationSource {
  readonly sessionId: string;
  /** 1, 2, …; a hole means that something was lost on the way. */
  readonly sequence: number;
}

/** Options of {@link serveCallbacks}. */
export interface CallbackHostOptions {
  /**
   * Called in the order of the server, per session the next one when this one has settled. When it throws the server
   * tries the notification twice more.
   */
  readonly onNotification?: (
    notification: ToolNotification,
    source: NotificationSource,
  ) => void | Promise<void>;
  /**
   * Runs one subagent to its end. `signal` aborts when it is to stop, or nobody is there any more for its result. What it
   * throws is the error the subagent failed with. Absent: subagents are refused.
   */
  readonly spawnSubagent?: (task: SubagentTask, options: { signal: AbortSignal }) => Promise<SubagentResult>;
  /** Bearer secret the server has to send. Default: 32 random bytes. */
  readonly secret?: string;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
}

/** A served callback service: what to open sessions with. Disposing it stops running subagents. */
export interface CallbackHost extends CallbackAddress, AsyncDisposable {
  readonly secret: string;
}

/**
 * Serves the callbacks of the tools from this process: notifications, and subagents to run.
 *
 * @example
 * ```ts
 * await using callbacks = await serveCallbacks({ onNotification: (notification) => show(notification.type) });
 * const session = await openToolSession(transport, { tools: ["GrokBuild:read_file"], callbacks });
 * ```
 * @throws {@link TriviumError} `unavailable` when the address cannot be listened on.
 */
export async function serveCallbacks(options: CallbackHostOptions): Promise<CallbackHost> {
  const { host = "127.0.0.1", port = 0, secret = randomBytes(32).toString("base64url") } = options;
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    throw new TriviumError("invalidInput", "a secret is visible ASCII characters, at least one");
  }
  const server = createServer(
    connectNodeAdapter({
      routes: callbackRoutes(options),
      interceptors: [errorInterceptor, secretInterceptor(secret)],
      grpcWeb: false,
      connect: false,
      acceptCompression: [],
      readMaxBytes: READ_MAX_BYTES,
    }),
  );
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    // A broken connection ends its calls, which is all there is to it.
    session.on("error", () => {});
  });
  await listen(server, { host, port });
  return {
    address: addressOf(server, host),
    secret,
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      // Running handlers are told by their signals.
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

function callbackRoutes({
  onNotification,
  spawnSubagent,
}: CallbackHostOptions): (router: ConnectRouter) => void {
  const turns = new NotificationTurns(({ sessionId, sequence, notificationJson }) =>
    onNotification?.(parseNotification(notificationJson), { sessionId, sequence: Number(sequence) }),
  );
  return (router: ConnectRouter): void => {
    router.service(GrokToolsCallbackService, {
      async sendNotification(message: ToolNotificationMsg) {
        await turns.take(message);
        return {};
      },
      ...(spawnSubagent !== undefined && {
        async spawnSubagent(request, { signal }: HandlerContext) {
          try {
            return toResultMessage(await spawnSubagent(toSubagentTask(request), { signal }));
          } catch (thrown) {
            if (signal.aborted) return toResultMessage({ isCancelled: true });
            return toResultMessage({ error: thrown instanceof Error ? thrown.message : String(thrown) });
          }
        },
      }),
    });
  };
}

async function listen(server: Http2Server, place: { host: string; port: number }): Promise<void> {
  server.listen(place);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new TriviumError("unavailable", `cannot serve callbacks on ${place.host}:${place.port}`, { cause });
  }
}

function addressOf(server: Http2Server, host: string): string {
  const bound = server.address();
  if (bound === null || typeof bound === "string")
    throw new TriviumError("internal", "the server has no port");
  return `${host.includes(":") ? `[${host}]` : host}:${bound.port}`;
}
