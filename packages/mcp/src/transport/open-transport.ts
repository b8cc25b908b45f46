import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { abortable, type Clock, linkSignals, TriviumError } from "@trivium/core";
import { isStdioServer, type McpServerConfig } from "../server-config.ts";
import type { ServerProcessEnd, StartServerProcess } from "../server-process.ts";
import { openSse } from "./open-sse.ts";
import { ProcessTransport } from "./process-transport.ts";
import { watchedFetch } from "./watched-fetch.ts";

/** A way to a server, and how it is left. */
export interface OpenTransport {
  readonly transport: Transport;
  /** Ends it in good order. Never rejects. */
  close(): Promise<void>;
  /** How the server's program has ended; undefined for a server elsewhere. */
  processEnd(): Promise<ServerProcessEnd | undefined>;
}

export interface TransportDeps {
  readonly startProcess: StartServerProcess;
  readonly clock: Clock;
}

/** After the end of a stream: what has arrived has been delivered by then. */
const DELIVERY_MS = 100;
/** For telling a server elsewhere that it is not needed any more. */
const FAREWELL_MS = 1000;
/** JSON-RPC error of a lost connection. */
const CONNECTION_CLOSED = -32_000;

/** Opens the way to a server; nothing was said yet. */
export async function openTransport(
  name: string,
  config: McpServerConfig,
  { startProcess, clock, signal }: TransportDeps & { readonly signal: AbortSignal },
): Promise<OpenTransport> {
  if (isStdioServer(config)) {
    const { deserializeMessage } = await import("@modelcontextprotocol/sdk/shared/stdio.js");
    const program = await startProcess(name, config, signal);
    const transport = new ProcessTransport(program, clock, deserializeMessage);
    return { transport, close: () => transport.close(), processEnd: () => program.ended };
  }
  const url = new URL(config.url);
  const headers = config.headers ?? {};
  // `fetch` refuses it too, but repeats the password.
  if (url.username !== "" || url.password !== "") {
    throw new TriviumError(
      "invalidInput",
      "its address holds a user name or password; put them into a header",
    );
  }
  if (config.transport !== "sse") return await openHttp(url, headers, clock);
  return { ...(await openSse(url, headers)), processEnd: () => Promise.resolve(undefined) };
}

async function openHttp(
  url: URL,
  headers: Readonly<Record<string, string>>,
  clock: Clock,
): Promise<OpenTransport> {
  const { StreamableHTTPClientTransport } = await import(
    "@modelcontextprotocol/sdk/client/streamableHttp.js"
  );
  const timers = new Set<Disposable>();
  const onStreamEnd = (id: unknown): void => {
    if (typeof id !== "number" && typeof id !== "string") return;
    const timer = clock.setTimer(DELIVERY_MS, () => {
      timers.delete(timer);
      // Ignored when the answer has come.
      const error = { code: CONNECTION_CLOSED, message: "the connection ended before the answer" };
      transport.onmessage?.({ jsonrpc: "2.0", id, error });
    });
    timers.add(timer);
  };
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { ...headers } },
    fetch: watchedFetch(onStreamEnd),
  });
  return {
    transport,
    async close() {
      using limit = linkSignals([], { timeoutMs: FAREWELL_MS, clock });
      await abortable(transport.terminateSession(), limit.signal).catch(() => {
        // It forgets the session by itself.
      });
      await transport.close();
      for (const timer of timers) timer[Symbol.dispose]();
    },
    processEnd: () => Promise.resolve(undefined),
  };
}
