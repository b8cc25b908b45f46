import type { ServerHttp2Stream } from "node:http2";
import type { ByteBudget } from "../call/byte-budget.ts";

/** What the endpoint knows of one client connection, whatever its protocol. */
export class Connection {
  readonly remoteAddress: string;
  readonly isLoopback: boolean;
  readonly isEncrypted: boolean;
  /** Whether it is no network connection but a pipe handed to `attach`. */
  readonly isPipe: boolean;
  /** Request bytes held for the handlers of this connection. */
  readonly budget: ByteBudget;
  /** Streams with a request; HTTP/2 only. */
  readonly openStreams: Set<ServerHttp2Stream> = new Set();
  /** Requests whose response is not finished; HTTP/1.1 only, where there are several when the client pipelines. */
  openRequests = 0;

  constructor(init: {
    remoteAddress: string;
    isEncrypted: boolean;
    isPipe: boolean;
    budget: ByteBudget;
  }) {
    this.remoteAddress = init.remoteAddress;
    this.isLoopback = isLoopbackAddress(init.remoteAddress);
    this.isEncrypted = init.isEncrypted;
    this.isPipe = init.isPipe;
    this.budget = init.budget;
  }

  /** Bytes that have arrived on open streams and that nobody has read. */
  unreadBytes(): number {
    let bytes = 0;
    for (const stream of this.openStreams) bytes += stream.readableLength;
    return bytes;
  }
}

/** Whether an IP address, as sockets report it, is this machine's own. An empty one is a pipe: local as well. */
export function isLoopbackAddress(address: string): boolean {
  const plain = address.startsWith("::ffff:") ? address.slice(7) : address;
  return plain === "" || plain === "::1" || plain.startsWith("127.");
}
