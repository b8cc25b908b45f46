import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Clock, randomIds, silentLogger, sleep, systemClock, TriviumError } from "@trivium/core";
import { gzipCompression } from "./call/gzip.ts";
import { Registrations } from "./call/registrations.ts";
import { statusInterceptor } from "./call/status-interceptor.ts";
import { CorsPolicy } from "./cors/cors-policy.ts";
import { assertRoutes, Dispatcher } from "./dispatcher.ts";
import type { EndpointOptions } from "./endpoint-options.ts";
import { HealthRegistry } from "./health/health-registry.ts";
import { healthService, publicHealthMethods } from "./health/health-service.ts";
import { defaultLimits, type EndpointLimits } from "./limits.ts";
import { isLoopbackAddress } from "./listener/connection.ts";
import { Listener } from "./listener/listener.ts";
import { EndpointMetrics, type EndpointStats } from "./observability/endpoint-metrics.ts";
import { MetricsRegistry } from "./observability/metrics-registry.ts";
import { reflectionService } from "./reflection/reflection-service.ts";
import { builtInRoutes } from "./routes/built-in-routes.ts";
import { findRoute } from "./routes/http-route.ts";
import { Admission } from "./security/admission.ts";
import { BearerToken } from "./security/bearer-token.ts";
import { HostPolicy, hostNameOf, loopbackNames } from "./security/host-policy.ts";

/** Where an endpoint listens. */
export interface EndpointAddress {
  /** `http://` or `https://`, the host as given, and the port; no slash at the end. */
  readonly url: string;
  readonly port: number;
  /** The IP address that was bound. */
  readonly address: string;
}

/** One port that serves gRPC, gRPC-Web, Connect and plain HTTP. Disposing it closes it. */
export interface Endpoint extends AsyncDisposable {
  /**
   * Starts to listen. Port 0 takes any free one. Once.
   *
   * @throws {@link TriviumError} `failedPrecondition` for an address beyond loopback without a token
   * @throws what Node reports for an address that cannot be bound
   */
  listen(where?: { host?: string | undefined; port?: number | undefined }): Promise<EndpointAddress>;
  /**
   * Serves HTTP/2 on an open pipe, such as stdin and stdout joined into one duplex. The pipe is owned by the
   * endpoint from here and is closed with it. The Host check is off for it.
   */
  attach(stream: Duplex): void;
  /**
   * Stops in order: no new work, health says no, calls go on; what runs after `deadlineMs` (default 10 000) ends
   * with `UNAVAILABLE`, and half a second later every connection is cut. Resolves when nothing is left.
   */
  drain(deadlineMs?: number): Promise<void>;
  /** As `drain(0)`. */
  close(): Promise<void>;
  readonly health: {
    /** Reports one service (`pkg.Service`; empty: the whole endpoint) as serving or not. */
    setServing(service: string, serving: boolean): void;
  };
  readonly metrics: MetricsRegistry;
  stats(): EndpointStats;
}

const DRAIN_MS = 10_000;
const CUT_MS = 500;

/**
 * Makes an endpoint; it accepts nothing before `listen` or `attach`.
 *
 * @example
 * ```ts
 * await using endpoint = createEndpoint({ services: [greeterService({ clock: systemClock })] });
 * const { url } = await endpoint.listen({ port: 0 });
 * ```
 * @throws {@link TriviumError} `alreadyExists` when a method is registered twice
 */
export function createEndpoint(options: EndpointOptions): Endpoint {
  return new PortEndpoint(options);
}

/** What a budget must have beyond one message: its envelope, and a little for the calls beside it. */
const ENVELOPE_ROOM_BYTES = 64 * 1024;

/** A message that is within its method's limit is never over a budget by itself. */
function withRoomFor(messageBytes: number, limits: EndpointLimits): EndpointLimits {
  const leastBytes = messageBytes + ENVELOPE_ROOM_BYTES;
  return {
    ...limits,
    connectionRequestBytes: Math.max(limits.connectionRequestBytes, leastBytes),
    totalRequestBytes: Math.max(limits.totalRequestBytes, leastBytes),
  };
}

class PortEndpoint implements Endpoint {
  readonly metrics: MetricsRegistry;
  readonly #options: EndpointOptions;
  readonly #clock: Clock;
  readonly #health = new HealthRegistry();
  readonly #listener: Listener;
  readonly #dispatcher: Dispatcher;
  readonly #admission: Admission;
  readonly #token: string | undefined;
  #isDraining = false;
  #end: Promise<void> | undefined;
  /** Ends the waiting part of a drain. */
  readonly #hurry = new AbortController();

  constructor(options: EndpointOptions) {
    const limits = { ...defaultLimits, ...options.limits };
    const { clock = systemClock, logger = silentLogger, ids = randomIds } = options;
    this.#options = options;
    this.#clock = clock;
    this.#token = options.auth?.token === "" ? undefined : options.auth?.token;
    this.metrics = options.metrics ?? new MetricsRegistry();
    const metrics = new EndpointMetrics(this.metrics, () => this.stats());
    const registrations = new Registrations(
      {
        acceptCompression: [gzipCompression],
        compressMinBytes: options.compression?.minBytes ?? 16 * 1024,
        interceptors: [
          statusInterceptor((method, error) => {
            metrics.swallowedErrors.increment({ method });
            logger.debug({ method, error }, "handler failed after its call was over");
          }),
          ...(options.interceptors ?? []),
        ],
      },
      limits,
      options.methodLimits ?? {},
    );
    for (const addTo of options.services) addTo(registrations);
    healthService(this.#health)(registrations);
    reflectionService(() => registrations.services)(registrations);
    for (const { typeName } of registrations.services) this.#health.setServing(typeName, true);
    const routes = [
      ...builtInRoutes({ metrics: this.metrics, isReady: () => this.#isReady() }),
      ...(options.routes ?? []),
    ];
    assertRoutes(routes);
    const publicPaths = new Set([
      ...publicHealthMethods,
      ...(options.auth?.publicMethods ?? []).map((method) => `/${method}`),
    ]);
    this.#admission = new Admission(
      {
        cors: new CorsPolicy({
          allowedOrigins: options.allowedOrigins ?? [],
          allowHeaders: options.allowHeaders ?? [],
          exposeHeaders: options.exposeHeaders ?? [],
        }),
        token: this.#token === undefined ? undefined : new BearerToken(this.#token),
        isPublic: (path) =>
          publicPaths.has(path) ||
          (registrations.find(path) === undefined && findRoute(routes, path)?.isPublic === true),
        compressOnLoopback: options.compression?.onLoopback ?? false,
      },
      new HostPolicy(options.allowedHosts),
    );
    this.#dispatcher = new Dispatcher({
      registrations,
      routes,
      admission: this.#admission,
      limits,
      logger,
      clock,
      ids,
      metrics,
      isOverBudget: ({ connection }) => this.#listener.isOverBudget(connection),
    });
    this.#listener = new Listener({
      limits: withRoomFor(registrations.largestReadMaxBytes, limits),
      tls: options.tls,
      clock,
      logger,
      onExchange: (exchange) => {
        try {
          this.#dispatcher.handle(exchange);
        } catch (error) {
          // A mistake of ours in one request must not end the process.
          logger.error({ error }, "request failed");
          exchange.reset();
        }
      },
      onConnectionError: (code) => metrics.connectionErrors.increment({ code }),
    });
  }

  get health(): Endpoint["health"] {
    return this.#health;
  }

  async listen(
    where: { host?: string | undefined; port?: number | undefined } = {},
  ): Promise<EndpointAddress> {
    const { host = "127.0.0.1", port = 0 } = where;
    const name = hostNameOf(host.includes(":") && !host.startsWith("[") ? `[${host}]` : host) ?? host;
    const isLoopback = name === "localhost" || isLoopbackAddress(name);
    if (!isLoopback && this.#token === undefined) {
      throw new TriviumError(
        "failedPrecondition",
        `listening on ${host} needs a token; without one only loopback addresses are allowed`,
      );
    }
    const names = this.#options.allowedHosts ?? (isLoopback ? [...loopbackNames, name] : undefined);
    this.#admission.hosts = new HostPolicy(names);
    const bound: AddressInfo = await this.#listener.listen(name, port);
    const scheme = this.#options.tls === undefined ? "http" : "https";
    const urlHost = name.includes(":") ? `[${name}]` : name;
    return { url: `${scheme}://${urlHost}:${bound.port}`, port: bound.port, address: bound.address };
  }

  attach(stream: Duplex): void {
    this.#listener.attach(stream);
  }

  drain(deadlineMs: number = DRAIN_MS): Promise<void> {
    this.#end ??= this.#drain(deadlineMs);
    return this.#end;
  }

  close(): Promise<void> {
    this.#hurry.abort();
    return this.drain(0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  stats(): EndpointStats {
    return {
      connections: this.#listener.connections,
      activeCalls: this.#dispatcher.activeCalls,
      requestBytes: this.#listener.requestBytes,
      isDraining: this.#isDraining,
    };
  }

  async #drain(deadlineMs: number): Promise<void> {
    this.#isDraining = true;
    this.#health.drain();
    this.#dispatcher.drain();
    this.#listener.startClosing();
    const closed = this.#listener.closed();
    if (await this.#isWithin(closed, deadlineMs, this.#hurry.signal)) return;
    this.#dispatcher.cancelAll(new ConnectError("the server is shutting down", Code.Unavailable));
    if (await this.#isWithin(closed, CUT_MS)) return;
    this.#listener.destroyAll();
    await closed;
  }

  /** True when `done` comes first, false when the time is up or `signal` aborts. */
  async #isWithin(done: Promise<void>, timeMs: number, signal?: AbortSignal): Promise<boolean> {
    const stop = new AbortController();
    const signals = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]);
    try {
      return await Promise.race([
        done.then(() => true),
        // Rejects when it is hurried or no longer needed; both mean: do not wait.
        sleep(this.#clock, timeMs, signals).then(
          () => false,
          () => false,
        ),
      ]);
    } finally {
      stop.abort();
    }
  }

  async #isReady(): Promise<boolean> {
    if (this.#isDraining || this.#health.isServing("") !== true) return false;
    return (await this.#options.isReady?.()) ?? true;
  }
}
