import { Code, type ConnectError } from "@connectrpc/connect";
import type { Clock, Logger } from "@trivium/core";
import { codeToString } from "../call/connect-protocol.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { EndpointMetrics } from "./endpoint-metrics.ts";

/** What one request came to. */
export interface AccessOutcome {
  /** Path of a registered method or route; anything else is `unknown`, so that labels stay few. */
  readonly name: string;
  readonly protocol: string;
  /** Undefined: fine. */
  readonly error: ConnectError | undefined;
}

/** Writes one line for each request, and counts it. */
export class AccessLog {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #metrics: EndpointMetrics;
  /** Counters by what their labels say; there are few. */
  readonly #meters = new Map<string, (seconds: number) => void>();

  constructor(deps: { logger: Logger; clock: Clock; metrics: EndpointMetrics }) {
    this.#logger = deps.logger;
    this.#clock = deps.clock;
    this.#metrics = deps.metrics;
  }

  /** Starts the time of a request; call the result once with its end. */
  start(exchange: Exchange, requestId: string): (outcome: AccessOutcome) => void {
    const startMs = this.#clock.monotonic();
    return ({ name, protocol, error }) => {
      const durationMs = Math.round(this.#clock.monotonic() - startMs);
      const code = error === undefined ? "ok" : codeToString(error.code);
      this.#meter(name, protocol, code)(durationMs / 1000);
      const fields = {
        requestId,
        method: name,
        protocol,
        httpVersion: exchange.httpVersion,
        remoteAddress: exchange.connection.remoteAddress,
        code,
        durationMs,
        ...(error !== undefined && { reason: error.rawMessage }),
      };
      if (error !== undefined && isFault(error.code)) {
        this.#logger.error({ ...fields, error: error.cause ?? error }, "call failed");
      } else {
        this.#logger.info(fields, "call ended");
      }
    };
  }

  #meter(method: string, protocol: string, code: string): (seconds: number) => void {
    const key = `${method} ${protocol} ${code}`;
    let meter = this.#meters.get(key);
    if (meter === undefined) {
      const count = this.#metrics.calls.withLabels({ method, protocol, code });
      const observe = this.#metrics.callSeconds.withLabels({ method });
      meter = (seconds) => {
        count();
        observe(seconds);
      };
      this.#meters.set(key, meter);
    }
    return meter;
  }
}

/** Codes that mean a mistake of ours, not of the caller. */
function isFault(code: Code): boolean {
  return code === Code.Internal || code === Code.Unknown || code === Code.DataLoss;
}
