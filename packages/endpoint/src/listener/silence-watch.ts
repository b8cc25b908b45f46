import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Clock } from "@trivium/core";
import type { EndpointLimits } from "../limits.ts";

/** How many times within the idle time a connection is looked at: it is found silent at most so much late. */
const LOOKS_PER_IDLE_TIME = 4;

export interface WatchedConnection {
  readonly session: ServerHttp2Session;
  readonly socket: Socket;
  readonly openStreams: ReadonlySet<unknown>;
}

/**
 * Finds HTTP/2 clients that are gone without a word: closes a silent connection without calls, pings one with calls,
 * and cuts it when no byte comes back.
 *
 * Only received bytes count. Our own writes, to which Node's session timeout listens as well, go on into a black hole.
 */
export class SilenceWatch implements Disposable {
  readonly #connection: WatchedConnection;
  readonly #clock: Clock;
  readonly #limits: EndpointLimits;
  #receivedBytes: number;
  #heardAtMs: number;
  /** When calls were last seen. */
  #busyAtMs: number;
  #wasBusy = false;
  #pingedAtMs: number | undefined;
  #timer: Disposable | undefined;

  constructor(connection: WatchedConnection, environment: { clock: Clock; limits: EndpointLimits }) {
    this.#connection = connection;
    this.#clock = environment.clock;
    this.#limits = environment.limits;
    this.#receivedBytes = connection.socket.bytesRead;
    this.#heardAtMs = this.#clock.monotonic();
    this.#busyAtMs = this.#heardAtMs;
    this.#lookAfter(this.#stepMs);
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  get #stepMs(): number {
    return Math.max(1, this.#limits.idleTimeoutMs / LOOKS_PER_IDLE_TIME);
  }

  #lookAfter(delayMs: number): void {
    this.#timer = this.#clock.setTimer(delayMs, () => this.#look());
  }

  #look(): void {
    const { session, socket, openStreams } = this.#connection;
    const { idleTimeoutMs, pingTimeoutMs } = this.#limits;
    if (session.destroyed) {
      this.#cutLater();
      return;
    }
    const nowMs = this.#clock.monotonic();
    if (socket.bytesRead !== this.#receivedBytes) {
      this.#receivedBytes = socket.bytesRead;
      this.#heardAtMs = nowMs;
      this.#pingedAtMs = undefined;
    }
    const isBusy = openStreams.size > 0;
    if (isBusy || this.#wasBusy) this.#busyAtMs = nowMs;
    this.#wasBusy = isBusy;
    if (!isBusy && nowMs - Math.max(this.#heardAtMs, this.#busyAtMs) >= idleTimeoutMs) {
      session.close();
      this.#cutLater();
    } else if (this.#pingedAtMs !== undefined && nowMs - this.#pingedAtMs >= pingTimeoutMs) {
      this.#cut();
    } else {
      if (isBusy && this.#pingedAtMs === undefined && nowMs - this.#heardAtMs >= idleTimeoutMs) {
        this.#pingedAtMs = nowMs;
        // Throws on a destroyed session, which was ruled out above. The answer is seen as received bytes.
        session.ping(() => {});
      }
      const pingEndMs = (this.#pingedAtMs ?? Number.POSITIVE_INFINITY) + pingTimeoutMs;
      this.#lookAfter(Math.min(this.#stepMs, pingEndMs - nowMs));
    }
  }

  /** The session has said goodbye; a client that is gone, or does not close its side, would keep the socket. */
  #cutLater(): void {
    this.#timer = this.#clock.setTimer(this.#limits.pingTimeoutMs, () => this.#cut());
  }

  #cut(): void {
    this.#connection.session.destroy();
    this.#connection.socket.destroy();
  }
}
