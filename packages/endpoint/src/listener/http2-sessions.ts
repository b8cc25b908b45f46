import type { Http2Session, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "@trivium/core";
import type { EndpointLimits } from "../limits.ts";
import type { Connection } from "./connection.ts";
import { SilenceWatch } from "./silence-watch.ts";

export interface Http2SessionsOptions {
  readonly limits: EndpointLimits;
  readonly clock: Clock;
  readonly onConnectionError: (code: string) => void;
}

/** How long after its socket a session may close. */
const LATE_CLOSE_MS = 1_000;

interface Entry {
  readonly session: ServerHttp2Session;
  readonly connection: Connection;
  /** Runs until the first request head is complete. */
  firstRequestTimer: Disposable | undefined;
  silenceWatch: Disposable | undefined;
  readonly gone: PromiseWithResolvers<void>;
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

  /** @param carrier the socket or pipe below: a session that fails in TLS may never say that it closed */
  add(session: ServerHttp2Session, connection: Connection, carrier: Duplex): void {
    const { limits, clock, onConnectionError } = this.#options;
    session.on("error", (error: Error) => onConnectionError(codeOf(error)));
    const entry: Entry = {
      session,
      connection,
      firstRequestTimer: undefined,
      silenceWatch: undefined,
      gone: Promise.withResolvers(),
    };
    this.#entries.set(session, entry);
    const forget = (): void => {
      entry.firstRequestTimer?.[Symbol.dispose]();
      entry.silenceWatch?.[Symbol.dispose]();
      this.#entries.delete(session);
      entry.gone.resolve();
    };
    session.once("close", forget);
    carrier.once("close", () => void setTimeout(forget, LATE_CLOSE_MS).unref());
    session.setLocalWindowSize(limits.connectionWindowBytes);
    // Whoever handed a pipe over decides how long it may be silent.
    if (!(carrier instanceof Socket)) return;
    entry.firstRequestTimer = clock.setTimer(limits.sniffTimeoutMs, () => session.destroy());
    const { openStreams } = connection;
    entry.silenceWatch = new SilenceWatch({ session, socket: carrier, openStreams }, { clock, limits });
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

  /** Bytes that wait in the read buffers of all connections; not counted while they cannot be too many. */
  unreadBytes(): number {
    const { streamWindowBytes, totalRequestBytes } = this.#options.limits;
    const connections = [...this.#entries.values()].map(({ connection }) => connection);
    const streams = connections.reduce((sum, { openStreams }) => sum + openStreams.size, 0);
    if (streams * streamWindowBytes <= totalRequestBytes) return 0;
    return connections.reduce((sum, connection) => sum + connection.unreadBytes(), 0);
  }

  /** The same of one connection: few streams cannot hold much, since each is bounded by its window. */
  unreadBytesOf(connection: Connection): number {
    const { streamWindowBytes, connectionRequestBytes } = this.#options.limits;
    const isWorthCounting = connection.openStreams.size * streamWindowBytes > connectionRequestBytes;
    return isWorthCounting ? connection.unreadBytes() : 0;
  }

  /** GOAWAY with the last stream seen; open streams go on. Never with a higher id: clients would wait for those. */
  closeAll(): void {
    for (const { session } of this.#entries.values()) session.close();
  }

  /** Cuts what runs over a socket; a session over a pipe ends with the pipe. */
  destroyAll(): void {
    for (const { session, connection } of this.#entries.values()) {
      if (!connection.isPipe) session.destroy();
    }
  }

  async closed(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ gone }) => gone.promise));
  }
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "other";
}
