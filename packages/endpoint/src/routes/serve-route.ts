import type { OutgoingHttpHeaders } from "node:http";
import type { Clock } from "@trivium/core";
import { toNodeHeaders, toWebHeaders } from "../call/headers.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { guardFlush } from "../exchange/flush-guard.ts";
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
  await send(exchange, response, environment).catch((thrown: unknown) => {
    if (!controller.signal.aborted) environment.onError(thrown);
    exchange.reset();
  });
  return response.status;
}

async function send(exchange: Exchange, response: Response, environment: RouteEnvironment): Promise<void> {
  const headers = { ...environment.baseHeaders, ...toNodeHeaders(response.headers) };
  if (response.body === null || exchange.method === "HEAD") {
    await response.body?.cancel();
    exchange.sendEmpty(response.status, headers);
    return;
  }
  exchange.sendHead(response.status, headers);
  const reader = response.body.getReader();
  let wake: (() => void) | undefined;
  exchange.onDrain(() => wake?.());
  exchange.onClose(() => {
    wake?.();
    reader.cancel().catch(environment.onError);
  });
  for (;;) {
    const { done, value } = await reader.read();
    if (done || exchange.isClosed) break;
    if (exchange.write(value)) continue;
    await new Promise<void>((resolve) => {
      const timer = environment.clock.setTimer(environment.writeStallMs, () => exchange.reset());
      wake = () => {
        timer[Symbol.dispose]();
        resolve();
      };
    });
  }
  exchange.end();
  guardFlush(exchange, { clock: environment.clock, stallMs: environment.writeStallMs });
}
