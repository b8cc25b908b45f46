import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { limitedFetch } from "./watched-fetch.ts";

/**
 * The older way over HTTP: a stream of events for what the server says, and requests to an address that it names there.
 * The end of the stream is the end of the connection: another stream would be another session.
 */
export async function openSse(
  url: URL,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly transport: Transport; close(): Promise<void> }> {
  const { SSEClientTransport, SseError } = await import("@modelcontextprotocol/sdk/client/sse.js");
  const transport = new SSEClientTransport(url, {
    requestInit: { headers: { ...headers } },
    fetch: limitedFetch,
  });
  transport.onerror = (error) => {
    if (error instanceof SseError) void transport.close();
  };
  return { transport, close: () => transport.close() };
}
