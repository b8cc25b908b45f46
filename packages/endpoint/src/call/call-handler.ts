import type { OutgoingHttpHeaders } from "node:http";
import type { ContextValues } from "@connectrpc/connect";
import type { UniversalHandler } from "./connect-protocol.ts";
import { toNodeHeaders } from "./headers.ts";
import type { RequestBody } from "./request-body.ts";

/** One request as a handler takes it. */
export interface CallRequest {
  readonly httpVersion: "1.1" | "2.0";
  readonly method: string;
  readonly url: string;
  readonly header: Headers;
  readonly body: RequestBody;
  /** The client's time for the call, when it gave one. */
  readonly timeoutMs: number | undefined;
  /** Aborts when the call has ended, however. */
  readonly signal: AbortSignal;
  readonly contextValues: ContextValues;
}

/** What a handler answers. Head and trailers are final only when the body has been asked for its first and last piece. */
export interface CallResponse {
  readonly status: number;
  readonly body: AsyncIterator<Uint8Array, undefined> | undefined;
  readonly head: () => OutgoingHttpHeaders;
  /** Undefined: the protocol has none. */
  readonly trailers: () => OutgoingHttpHeaders | undefined;
}

/** Carries out one call. */
export type CallHandler = (request: CallRequest) => Promise<CallResponse>;

/** Connect's handler, which speaks all three protocols in all their forms. */
export function universalCallHandler(handler: UniversalHandler): CallHandler {
  return async ({ timeoutMs: _ofConnect, ...request }) => {
    const response = await handler(request);
    const { header, trailer } = response;
    return {
      status: response.status,
      body: response.body?.[Symbol.asyncIterator](),
      head: () => ({
        ...(header !== undefined && toNodeHeaders(header)),
        ...(response.status === 405 && { allow: handler.allowedMethods.join(", ") }),
      }),
      trailers: () => (trailer === undefined ? undefined : toNodeHeaders(trailer)),
    };
  };
}
