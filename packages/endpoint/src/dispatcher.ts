import type { OutgoingHttpHeaders } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Clock, type IdSource, type Logger, TriviumError } from "@trivium/core";
import { type CallProtocol, callProtocolOf, isPlainGrpc } from "./call/call-protocol.ts";
import { answerError } from "./call/error-answer.ts";
import type { RegisteredMethod, Registrations } from "./call/registrations.ts";
import { RequestHeaders } from "./call/request-headers.ts";
import { ServedCall } from "./call/served-call.ts";
import type { Exchange } from "./exchange/exchange.ts";
import { guardFlush } from "./exchange/flush-guard.ts";
import type { EndpointLimits } from "./limits.ts";
import { AccessLog, type AccessOutcome } from "./observability/access-log.ts";
import type { EndpointMetrics } from "./observability/endpoint-metrics.ts";
import { findRoute, type HttpRoute } from "./routes/http-route.ts";
import { serveRoute } from "./routes/serve-route.ts";
import type { Admission } from "./security/admission.ts";

export interface DispatcherDeps {
  readonly registrations: Registrations;
  readonly routes: readonly HttpRoute[];
  readonly admission: Admission;
  readonly limits: EndpointLimits;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly metrics: EndpointMetrics;
  /** Whether all connections together hold more request bytes than they may. */
  readonly isOverBudget: (exchange: Exchange) => boolean;
}

/**
 * Takes every request of the port, admits it or not, and hands it on: to a call path that knows the method, to a
 * plain route, or to nobody.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #accessLog: AccessLog;
  readonly #calls = new Set<ServedCall>();
  #isDraining = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#accessLog = new AccessLog(deps);
  }

  get activeCalls(): number {
    return this.#calls.size;
  }

  /** From now on only health checks and routes are served. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Ends what is still running with a status. */
  cancelAll(error: ConnectError): void {
    for (const call of this.#calls) call.cancel(error);
  }

  /** Serves one exchange; its errors end in the exchange. */
  handle(exchange: Exchange): void {
    const { registrations, admission, ids } = this.#deps;
    const requestId = requestIdOf(exchange) ?? ids.uuid();
    const log = this.#accessLog.start(exchange, requestId);
    const path = exchange.target.split("?", 1)[0] ?? "";
    const method = registrations.find(path);
    const protocol = callProtocolOf(exchange.method, exchange.target, exchange.headers);
    const verdict = admission.judge(exchange, { path, isRpc: method !== undefined });
    const baseHeaders: OutgoingHttpHeaders = { ...verdict.headers, "x-request-id": requestId };
    const request: Admitted = { exchange, path, protocol, requestId, baseHeaders, log };
    switch (verdict.case) {
      case "preflight":
        exchange.sendEmpty(204, baseHeaders);
        return;
      case "refused":
        this.#refuse(request, method?.path ?? "unknown", verdict.error);
        return;
      case "admitted":
        break;
    }
    if (protocol === "grpc" && exchange.httpVersion === "1.1") {
      // gRPC needs HTTP/2's trailers; a client that waits on this connection for them must not.
      exchange.sendEmpty(505, { ...baseHeaders, connection: "close" });
      log({ name: method?.path ?? "unknown", protocol, error: unsupported("gRPC needs HTTP/2") });
    } else if (method !== undefined) {
      this.#serveCall(request, method);
    } else {
      this.#serveRoute(request);
    }
  }

  #serveCall(request: Admitted, method: RegisteredMethod): void {
    const { exchange, requestId } = request;
    const refusal = this.#refusalOf(exchange, method);
    if (refusal !== undefined) {
      this.#refuse(request, method.path, refusal);
      return;
    }
    const headers = headersOf(exchange);
    if (headers === undefined) {
      this.#refuse(request, method.path, new ConnectError("malformed request header", Code.InvalidArgument));
      return;
    }
    headers.set("x-request-id", requestId);
    if (!this.#deps.admission.mayCompress(exchange.connection)) {
      for (const name of ACCEPT_ENCODINGS) headers.delete(name);
    }
    this.#startCall(request, method, headers);
  }

  #startCall(request: Admitted, method: RegisteredMethod, headers: RequestHeaders): void {
    const { clock, limits, metrics } = this.#deps;
    const { exchange, baseHeaders } = request;
    const protocol = request.protocol ?? "connect-unary";
    let outcome: AccessOutcome = { name: method.path, protocol, error: undefined };
    const call = new ServedCall(
      { exchange, method, protocol, isLean: isPlainGrpc(exchange, headers) },
      {
        clock,
        limits,
        baseHeaders,
        onOutcome: (error) => {
          outcome = { ...outcome, error };
        },
        onWriteStall: () => metrics.writeStalls.increment({ method: method.path }),
      },
    );
    this.#calls.add(call);
    void call.run(headers);
    // After the call's own listener, which settles the outcome.
    exchange.onClose(() => {
      this.#calls.delete(call);
      request.log(outcome);
    });
  }

  #refusalOf(exchange: Exchange, method: RegisteredMethod): ConnectError | undefined {
    if (this.#isDraining && !this.#deps.admission.isPublic(method.path)) {
      return new ConnectError("the server is shutting down", Code.Unavailable);
    }
    if (this.#deps.isOverBudget(exchange)) {
      return new ConnectError("too many request bytes are waiting to be handled", Code.ResourceExhausted);
    }
    return undefined;
  }

  #serveRoute(request: Admitted): void {
    const { exchange, path, baseHeaders, protocol, requestId } = request;
    const { remoteAddress } = exchange.connection;
    const route = findRoute(this.#deps.routes, path);
    const isReading = exchange.method === "GET" || exchange.method === "HEAD";
    if (route === undefined || !isReading) {
      if (protocol === undefined || protocol === "connect-unary") {
        const status = route === undefined ? 404 : 405;
        exchange.sendEmpty(status, { ...baseHeaders, ...(status === 405 && { allow: "GET, HEAD" }) });
        this.#deps.metrics.routes.increment({ route: route?.path ?? "unknown", status: String(status) });
      } else {
        this.#refuse(request, "unknown", unsupported(`no method at ${path.slice(0, 200)}`));
      }
      return;
    }
    const { clock, limits, metrics, logger } = this.#deps;
    void serveRoute(exchange, route, {
      clock,
      writeStallMs: limits.writeStallMs,
      baseHeaders: { ...baseHeaders, "x-content-type-options": "nosniff" },
      onError: (thrown) => logger.error({ requestId, route: route.path, error: thrown }, "route failed"),
    }).then((status) => {
      metrics.routes.increment({ route: route.path, status: String(status) });
      logger.debug({ requestId, route: route.path, status, remoteAddress }, "request served");
    });
  }

  /** Answers in the form the caller's protocol has for errors; plain requests get the HTTP status and a sentence. */
  #refuse(request: Admitted, name: string, error: ConnectError): void {
    const { exchange, protocol, baseHeaders } = request;
    answerError(exchange, protocol ?? "connect-unary", {
      error,
      headers: {
        ...baseHeaders,
        ...(error.code === Code.Unauthenticated && { "www-authenticate": "Bearer" }),
      },
    });
    guardFlush(exchange, { clock: this.#deps.clock, stallMs: this.#deps.limits.writeStallMs });
    request.log({ name, protocol: protocol ?? "http", error });
  }
}

interface Admitted {
  readonly exchange: Exchange;
  readonly path: string;
  readonly protocol: CallProtocol | undefined;
  readonly requestId: string;
  readonly baseHeaders: OutgoingHttpHeaders;
  readonly log: (outcome: AccessOutcome) => void;
}

/** How clients of the three protocols say that they take compressed answers. */
const ACCEPT_ENCODINGS = ["grpc-accept-encoding", "accept-encoding", "connect-accept-encoding"];

function unsupported(message: string): ConnectError {
  return new ConnectError(message, Code.Unimplemented);
}

/** The caller's own id, if it is fit for logs. */
function requestIdOf(exchange: Exchange): string | undefined {
  const value = exchange.headers["x-request-id"];
  return typeof value === "string" && /^[\w.:-]{1,128}$/.test(value) ? value : undefined;
}

function headersOf(exchange: Exchange): RequestHeaders | undefined {
  try {
    return new RequestHeaders(exchange.headers);
  } catch {
    // A value that cannot be in a header: Node's parser lets some through over HTTP/2. Answered by the caller.
    return undefined;
  }
}

/** Refuses what could never be served, before anything listens. */
export function assertRoutes(routes: readonly HttpRoute[]): void {
  for (const { path } of routes) {
    if (!path.startsWith("/")) {
      throw new TriviumError("invalidInput", `route ${path} does not begin with a slash`);
    }
  }
}
