import type { Http2Session, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Clock } from "@trivium/core";
import type { EndpointLimits } from "../limits.ts";
import type { Connection } from "./connection.ts";

export interface Http2SessionsOptions {
  readonly limits: EndpointLimits;
  readonly clock: Clock;
  readonly onConnectionError: (code: string) => void;
}

interface Entry {
  readonly session: ServerHttp2Session;
  readonly connection: Connection;
  /** Runs until the first request head is complete. */
  firstRequestTimer: Disposable | undefined;
  pingTimer: Disposable | undefined;
}

/** The HTTP/2 connections of the port: their windows, their idle time, their end. */
export class Http2Sessions {
  readonly #options: Http2SessionsOptions;
  readonly #entries = new Map<Http2Session, Entry>();

  constructor(options: Http2SessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  add(session: ServerHttp2Session, connection: Connection): void {
    const { limits, clock, onConnectionError } = this.#options;
    session.on("error", (error: Error) => onConnectionError(codeOf(error)));
    const entry: Entry = {
      session,
      connection,
      firstRequestTimer: clock.setTimer(limits.sniffTimeoutMs, () => session.destroy()),
      pingTimer: undefined,
    };
    this.#entries.set(session, entry);
    session.once("close", () => {
      entry.firstRequestTimer?.[Symbol.dispose]();
      entry.pingTimer?.[Symbol.dispose]();
      this.#entries.delete(session);
    });
    session.setLocalWindowSize(limits.connectionWindowBytes);
    // The callback of `setTimeout` would be called once only.
    session.on("timeout", () => this.#onIdle(entry));
    session.setTimeout(limits.idleTimeoutMs);
  }

  /** Notes a new stream; undefined when its session is gone already. */
  onStream(stream: ServerHttp2Stream): Connection | undefined {
    const entry = stream.session && this.#entries.get(stream.session);
    if (entry === undefined) return undefined;
    entry.firstRequestTimer?.[Symbol.dispose]();
    entry.firstRequestTimer = undefined;
    const { openStreams } = entry.connection;
    openStreams.add(stream);
    stream.once("close", () => openStreams.delete(stream));
    return entry.connection;
  }

  /** Bytes that wait in the read buffers of all connections. */
  unreadBytes(): number {
    let bytes = 0;
    for (const { connection } of this.#entries.values()) bytes += this.unreadBytesOf(connection);
    return bytes;
  }

  /** Few streams cannot hold much, each is bounded by its window: then nothing is counted. */
  unreadBytesOf(connection: Connection): number {
    const { streamWindowBytes, connectionRequestBytes } = this.#options.limits;
    const isWorthCounting = connection.openStreams.size * streamWindowBytes > connectionRequestBytes;
    return isWorthCounting ? connection.unreadBytes() : 0;
  }

  /** GOAWAY with the last stream seen; open streams go on. Never with a higher id: clients would wait for those. */
  closeAll(): void {
    for (const { session } of this.#entries.values()) session.close();
  }

  destroyAll(): void {
    for (const { session } of this.#entries.values()) session.destroy();
  }

  async closed(): Promise<void> {
    await Promise.all(
      [...this.#entries.keys()].map(
        (session) => new Promise<void>((resolve) => void session.once("close", () => resolve())),
      ),
    );
  }

  #onIdle(entry: Entry): void {
    const { session, connection } = entry;
    if (session.destroyed) return;
    if (connection.openStreams.size === 0) {
      session.close();
      return;
    }
    if (entry.pingTimer !== undefined) return;
    entry.pingTimer = this.#options.clock.setTimer(this.#options.limits.pingTimeoutMs, () =>
      session.destroy(),
    );
    // Throws on a destroyed session, which was ruled out above.
    session.ping((error) => {
      if (error !== null) return;
      entry.pingTimer?.[Symbol.dispose]();
      entry.pingTimer = undefined;
      session.setTimeout(this.#options.limits.idleTimeoutMs);
    });
  }
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "other";
}
