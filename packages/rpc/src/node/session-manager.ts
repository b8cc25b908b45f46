import type { ClientHttp2Stream, Http2Session } from "node:http2";
import { connect } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { Http2SessionManager } from "@connectrpc/connect-node";
import type { CallTracker } from "./call-tracker.ts";
import type { NodeTransportOptions } from "./node-transport-options.ts";
import { parseServerAddress } from "./server-address.ts";

const MIB = 1024 * 1024;
/** What a server may send ahead: raising only one of the two gains nothing on a line with latency. */
const STREAM_WINDOW_BYTES = MIB;
const CONNECTION_WINDOW_BYTES = 16 * MIB;

/**
 * Connect's session manager with two things it lacks: the receive window of the whole connection, and an end that
 * closes every session that was ever opened.
 */
export class SessionManager {
  readonly authority: string;
  readonly #inner: Http2SessionManager;
  readonly #tracker: CallTracker;
  readonly #sessions = new Set<Http2Session>();
  #isClosed = false;

  constructor(options: NodeTransportOptions, tracker: CallTracker) {
    this.#tracker = tracker;
    const { origin, socketPath } = parseServerAddress(options.baseUrl);
    this.#inner = new Http2SessionManager(
      origin,
      {
        pingIntervalMs: options.pingIntervalMs ?? 15_000,
        pingTimeoutMs: options.pingTimeoutMs ?? 10_000,
        pingIdleConnection: true,
        connectTimeoutMs: options.connectTimeoutMs ?? 20_000,
      },
      {
        settings: { initialWindowSize: STREAM_WINDOW_BYTES, enablePush: false },
        // The assumption until the server says its limit; with Node's 100 a first burst would queue.
        peerMaxConcurrentStreams: 1_000,
        maxSessionMemory: 64,
        ...options.tls,
        ...(options.lookup !== undefined && { lookup: options.lookup }),
        ...(socketPath !== undefined && { createConnection: () => connect(socketPath) }),
      },
    );
    this.authority = this.#inner.authority;
  }

  async request(...request: Parameters<Http2SessionManager["request"]>): Promise<ClientHttp2Stream> {
    if (this.#isClosed) throw closedError();
    const [method, path, tagged, options] = request;
    const { call, headers } = this.#tracker.untag(tagged);
    const stream = await this.#inner.request(method, path, headers, options).catch((thrown: unknown) => {
      throw isFailureToConnect(thrown)
        ? new ConnectError("cannot connect", Code.Unavailable, undefined, undefined, thrown)
        : thrown;
    });
    if (call !== undefined) this.#tracker.follow(call, stream);
    if (stream.session !== undefined) this.#watch(stream.session);
    return stream;
  }

  notifyResponseByteRead(stream: ClientHttp2Stream): void {
    this.#inner.notifyResponseByteRead(stream);
  }

  /** Ends every call and resolves when all connections are closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // A session whose TLS peer turned it away is destroyed and never says `close`.
    const open = [...this.#sessions].filter((session) => !session.destroyed);
    const closed = open.map(
      (session) => new Promise<void>((resolve) => void session.once("close", () => resolve())),
    );
    this.#inner.abort(closedError());
    await Promise.all(closed);
  }

  #watch(session: Http2Session): void {
    if (this.#sessions.has(session) || session.destroyed) return;
    this.#sessions.add(session);
    session.once("close", () => this.#sessions.delete(session));
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
  }
}

function closedError(): ConnectError {
  return new ConnectError("the transport is closed", Code.Canceled);
}

/** Connect knows those of hosts and ports; a Unix socket that is not there is another. */
function isFailureToConnect(thrown: unknown): boolean {
  const cause = thrown instanceof ConnectError ? thrown.cause : thrown;
  return cause instanceof Error && "syscall" in cause && cause.syscall === "connect";
}
