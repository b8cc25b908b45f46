import type { OutgoingHttpHeaders } from "node:http";
import { cors } from "@connectrpc/connect";

/** Metadata that clients of our contracts send. */
const CONTRACT_REQUEST_HEADERS = [
  "authorization",
  "idempotency-key",
  "x-request-id",
  "x-trivium-session",
  "x-trivium-cwd",
  "x-trivium-output",
  "x-trivium-logical-errors",
  "x-grok-prompt-id",
  "trivium-after-seq",
  "trivium-server-tools",
  "trivium-permission-session",
  "crabcode-create-session",
  "crabcode-cwd",
  "crabcode-detach",
  "crabcode-interactive",
  "crabcode-feedback",
  "traceparent",
  "tracestate",
];

/** Metadata that our services answer with. */
const CONTRACT_RESPONSE_HEADERS = [
  "x-request-id",
  "crabcode-session-id",
  "crabcode-current-model",
  "crabcode-operation-id",
  "trivium-idempotent-replay",
];

/** Chromium keeps a preflight's answer no longer. */
const MAX_AGE_SECONDS = "7200";

export interface CorsOptions {
  readonly allowedOrigins: readonly string[];
  readonly allowHeaders: readonly string[];
  readonly exposeHeaders: readonly string[];
}

/** Decides which pages may call, and what their browsers must be told. */
export class CorsPolicy {
  readonly #origins: ReadonlySet<string>;
  readonly #allowHeaders: string;
  readonly #exposeHeaders: string;

  constructor(options: CorsOptions) {
    this.#origins = new Set(options.allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, "")));
    this.#allowHeaders = list([
      ...cors.allowedHeaders,
      "content-encoding",
      "accept-encoding",
      ...CONTRACT_REQUEST_HEADERS,
      ...options.allowHeaders,
    ]);
    const exposed = [...CONTRACT_RESPONSE_HEADERS, ...options.exposeHeaders];
    this.#exposeHeaders = list([
      ...cors.exposedHeaders,
      ...exposed,
      // Unary Connect carries trailers as headers with this prefix.
      ...exposed.map((name) => `trailer-${name}`),
    ]);
  }

  /** @param ownOrigin scheme and authority the request came to */
  accepts(origin: string, ownOrigin: string): boolean {
    const normalized = origin.toLowerCase();
    return normalized === ownOrigin.toLowerCase() || this.#origins.has(normalized);
  }

  /** For every response to an accepted origin, errors included: without them a page sees only "failed to fetch". */
  responseHeaders(origin: string): OutgoingHttpHeaders {
    return {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": this.#exposeHeaders,
      vary: "origin",
    };
  }

  preflightHeaders(origin: string): OutgoingHttpHeaders {
    return {
      "access-control-allow-origin": origin,
      "access-control-allow-methods": cors.allowedMethods.join(", "),
      "access-control-allow-headers": this.#allowHeaders,
      "access-control-max-age": MAX_AGE_SECONDS,
      vary: "origin",
    };
  }
}

function list(names: readonly string[]): string {
  return [...new Set(names.map((name) => name.toLowerCase()))].join(", ");
}
