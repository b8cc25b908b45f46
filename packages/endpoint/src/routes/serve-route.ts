import type { OutgoingHttpHeaders } from "node:http";
import type { Clock } from "@trivium/core";
import { toNodeHeaders, toWebHeaders } from "../call/headers.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { guardFlush } from "../exchange/flush-guard.ts";
import { piecesOf } from "../exchange/pieces-of.ts";
import type { HttpRoute } from "./http-route.ts";

/** How a plain response travels. */
export interface RouteEnvironment {
  readonly clock: Clock;
  readonly writeStallMs: number;
  readonly baseHeaders: OutgoingHttpHeaders;
  readonly onError: (thrown: unknown) => void;
}

/** Runs a route and streams its response. Never rejects. Resolves to the HTTP status. */
export async function serveRoute(
  exchange: Exchange,
  route: HttpRoute,
  environment: RouteEnvironment,
): Promise<number> {
  const controller = new AbortController();
  exchange.onClose(() => controller.abort(new DOMException("the exchange is over", "AbortError")));
  const scheme = exchange.connection.isEncrypted ? "https" : "http";
  let response: Response;
  try {
    const request = new Request(`${scheme}://${exchange.authority}${exchange.target}`, {
      method: exchange.method,
      headers: toWebHeaders(exchange.headers),
      signal: controller.signal,
    });
    response = await route.handle(request);
  } catch (thrown) {
    if (!controller.signal.aborted) environment.onError(thrown);
    response = new Response("internal error\n", { status: 500 });
  }
  const { signal } = controller;
  await send(exchange, response, { ...environment, signal }).catch((thrown: unknown) => {
    if (!signal.aborted) environment.onError(thrown);
    exchange.reset();
  });
  return response.status;
}

/** @param environment.signal aborts when the exchange is over, which it may be before there is a response */
async function send(
  exchange: Exchange,
  response: Response,
  environment: RouteEnvironment & { signal: AbortSignal },
): Promise<void> {
  const headers = { ...environment.baseHeaders, ...toNodeHeaders(response.headers) };
  if (response.body === null || exchange.method === "HEAD" || environment.signal.aborted) {
    await response.body?.cancel();
    exchange.sendEmpty(response.status, headers);
    return;
  }
  const reader = response.body.getReader();
  try {
    exchange.sendHead(response.status, headers);
    await pump(exchange, reader, environment);
  } catch (thrown) {
    // A source that failed fails here once more.
    reader.cancel().catch(() => {});
    throw thrown;
  }
  exchange.end();
  guardFlush(exchange, { clock: environment.clock, stallMs: environment.writeStallMs });
}

/** Writes until there is no more, or the exchange is over. */
async function pump(
  exchange: Exchange,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  environment: RouteEnvironment,
): Promise<void> {
  let wake: (() => void) | undefined;
  exchange.onDrain(() => wake?.());
  exchange.onClose(() => {
    wake?.();
    // A reader that waits for the source gets its end from this.
    reader.cancel().catch(environment.onError);
  });
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const piece of piecesOf(value)) {
      if (exchange.isClosed) return;
      if (exchange.write(piece)) continue;
      await new Promise<void>((resolve) => {
        const timer = environment.clock.setTimer(environment.writeStallMs, () => exchange.reset());
        wake = () => {
          timer[Symbol.dispose]();
          resolve();
        };
      });
    }
  }
}
