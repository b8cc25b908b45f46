import type { Readable } from "node:stream";
import { abortReason, TriviumError } from "@trivium/core";
import type { Dispatcher } from "undici";
import { pinnedLookup } from "../net/host-lookup.ts";

/** One request over HTTP/1.1. Nothing of it is kept: no cookies, no connections, no redirects. */
export interface HttpRequest {
  readonly url: URL;
  readonly method?: "GET" | "POST" | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  /** Where to connect to, whatever the name server says now. Absent: a host that the server's operator configured. */
  readonly addresses?: readonly string[] | undefined;
  /** URL of a proxy that opens tunnels. It is asked for the first of the addresses, not for the name. */
  readonly proxy?: string | undefined;
  /** Certificates to trust instead of the usual ones. PEM */
  readonly ca?: string | undefined;
  readonly signal: AbortSignal;
}

/** The head of an answer and its body to come. Dispose it: that closes the connection. */
export interface HttpResponse extends AsyncDisposable {
  readonly status: number;
  /** A header by its name in lower case; repeated ones joined by commas. */
  header(name: string): string | undefined;
  readonly body: Readable;
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Sends a request on a connection of its own.
 *
 * @throws {@link TriviumError} `unavailable` when there is no answer, and the reason of the signal.
 */
export async function sendRequest(request: HttpRequest): Promise<HttpResponse> {
  const { url, method = "GET", headers = {}, body = null, signal } = request;
  signal.throwIfAborted();
  const dispatcher = await openDispatcher(request);
  try {
    const response = await dispatcher.request({
      origin: connectOrigin(request),
      path: `${url.pathname}${url.search}`,
      method,
      // Through a proxy the origin is an address, so the name is said here.
      headers: { ...headers, host: url.host },
      body,
      signal,
    });
    // An error after nobody reads any more must not become an uncaught exception.
    response.body.on("error", () => {});
    return {
      status: response.statusCode,
      header: (name) => joined(response.headers[name]),
      body: response.body,
      async [Symbol.asyncDispose]() {
        response.body.destroy();
        await dispatcher.destroy();
      },
    };
  } catch (cause) {
    await dispatcher.destroy();
    if (signal.aborted) throw abortReason(signal);
    throw unreachable(url, cause);
  }
}

/** The error for a connection that failed or broke off. Says the kind of fault, never what was sent. */
export function unreachable(url: URL, cause: unknown): TriviumError {
  return new TriviumError("unavailable", `cannot reach ${url.host}: ${faultOf(cause)}`, { cause });
}

async function openDispatcher(request: HttpRequest): Promise<Dispatcher> {
  // Loaded when first needed: a server that fetches nothing starts without it.
  const { Agent, ProxyAgent } = await import("undici");
  const { addresses, proxy, ca, url } = request;
  // The caller's signal is the limit; the library's own would end slow answers early.
  const limits = { headersTimeout: 0, bodyTimeout: 0, pipelining: 1, connections: 1, allowH2: false };
  const tls = ca === undefined ? {} : { ca };
  if (proxy !== undefined) {
    return new ProxyAgent({
      ...limits,
      uri: proxy,
      proxyTunnel: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      requestTls: { ...tls, servername: url.hostname, timeout: CONNECT_TIMEOUT_MS },
    });
  }
  const pin = addresses === undefined ? {} : { lookup: pinnedLookup(addresses) };
  return new Agent({ ...limits, connect: { ...tls, ...pin, timeout: CONNECT_TIMEOUT_MS } });
}

function connectOrigin({ url, proxy, addresses }: HttpRequest): string {
  const address = addresses?.[0];
  if (proxy === undefined || address === undefined) return url.origin;
  const origin = new URL(url.origin);
  origin.hostname = address.includes(":") ? `[${address}]` : address;
  return origin.origin;
}

function joined(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}

/** The system's or the library's code, which says enough; texts of libraries may quote what was sent. */
function faultOf(cause: unknown): string {
  if (!(cause instanceof Error)) return "the connection failed";
  const inner = cause.cause instanceof Error ? cause.cause : cause;
  const code = "code" in inner && typeof inner.code === "string" ? inner.code : undefined;
  return code ?? "the connection failed";
}
