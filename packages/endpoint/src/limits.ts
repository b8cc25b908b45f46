const KIB = 1024;
const MIB = 1024 * KIB;

/** What one endpoint accepts and how long it waits. Every number is a bound, not a target. */
export interface EndpointLimits {
  /** Bytes of one request message after inflating. Past it: `RESOURCE_EXHAUSTED`. Default 16 MiB. */
  readonly readMaxBytes: number;
  /** Bytes of one response message before compression. Past it: `RESOURCE_EXHAUSTED`. Default 16 MiB. */
  readonly writeMaxBytes: number;
  /** Bytes of a request's header list. Default 64 KiB. */
  readonly maxHeaderBytes: number;
  /** Streams open at once on one HTTP/2 connection. Default 1 000. */
  readonly maxStreamsPerConnection: number;
  /** Open connections in all. Further ones are closed at once. Default 10 000. */
  readonly maxConnections: number;
  /** Open connections of one address that is not loopback. Default 1 000. */
  readonly maxConnectionsPerAddress: number;
  /**
   * Request bytes held for handlers on one connection; past it the newest call fails. Raised to what the largest
   * message of any method needs. Default 64 MiB.
   */
  readonly connectionRequestBytes: number;
  /** The same for all connections together. Default 256 MiB. */
  readonly totalRequestBytes: number;
  /** Flow-control window of one HTTP/2 stream: bytes a client may send ahead of the handler. Default 256 KiB. */
  readonly streamWindowBytes: number;
  /** Flow-control window of a whole HTTP/2 connection. Default 16 MiB. */
  readonly connectionWindowBytes: number;
  /** Time for a new connection to show its protocol, and again for its first request head. Default 10 s. */
  readonly sniffTimeoutMs: number;
  /** Time for a request head over HTTP/1.1. Default 10 s. */
  readonly headersTimeoutMs: number;
  /**
   * Idle time after which a connection without calls is closed and one with calls is probed: over HTTP/2 the time since
   * its client sent anything, whatever we write meanwhile; it is noticed up to a quarter late. Default 65 s.
   */
  readonly idleTimeoutMs: number;
  /** Time for any byte after that probe; without one the connection is destroyed. HTTP/2 only. Default 20 s. */
  readonly pingTimeoutMs: number;
  /** Time without progress of a request message that has begun. Past it: `DEADLINE_EXCEEDED`. Default 30 s. */
  readonly bodyStallMs: number;
  /** Time without progress of a response the client does not read. Past it the call is reset. Default 60 s. */
  readonly writeStallMs: number;
  /**
   * How long a streaming handler, once it runs, may take to its first message before its response headers are sent without one.
   * Header values set later do not arrive. Default 100 ms.
   */
  readonly headerGraceMs: number;
  /** How long a call whose time is up may take to end by itself before the endpoint ends it. Default 200 ms. */
  readonly endGraceMs: number;
}

/** The limits of an endpoint that names none. */
export const defaultLimits: EndpointLimits = {
  readMaxBytes: 16 * MIB,
  writeMaxBytes: 16 * MIB,
  maxHeaderBytes: 64 * KIB,
  maxStreamsPerConnection: 1_000,
  maxConnections: 10_000,
  maxConnectionsPerAddress: 1_000,
  connectionRequestBytes: 64 * MIB,
  totalRequestBytes: 256 * MIB,
  streamWindowBytes: 256 * KIB,
  connectionWindowBytes: 16 * MIB,
  sniffTimeoutMs: 10_000,
  headersTimeoutMs: 10_000,
  idleTimeoutMs: 65_000,
  pingTimeoutMs: 20_000,
  bodyStallMs: 30_000,
  writeStallMs: 60_000,
  headerGraceMs: 100,
  endGraceMs: 200,
};

/** Limits of one service or one method that differ from the endpoint's. */
export interface MethodLimits {
  /** Bytes of one request message after inflating. */
  readonly readMaxBytes?: number | undefined;
  /** Bytes of one response message before compression. */
  readonly writeMaxBytes?: number | undefined;
  /**
   * As {@link EndpointLimits.writeStallMs}. Infinity for streams that look after slow readers themselves. A client that is
   * gone is still found: over HTTP/2 by its silence, see {@link EndpointLimits.idleTimeoutMs}; over HTTP/1.1 by TCP,
   * which takes minutes when bytes wait for it.
   */
  readonly writeStallMs?: number | undefined;
  /** As {@link EndpointLimits.headerGraceMs}. Infinity for calls whose headers come with their first message only. */
  readonly headerGraceMs?: number | undefined;
  /** Status of a message past its limit, either way. Default `resourceExhausted`. */
  readonly excess?: "resourceExhausted" | "outOfRange" | undefined;
}
