import type { DescMethod, DescService } from "@bufbuild/protobuf";
import type { ContextValues, HandlerContext } from "@connectrpc/connect";
import type { CallRequest } from "./call-handler.ts";

/** What every response of this path begins with. */
export const leanHead: Readonly<Record<string, string>> = { "content-type": "application/grpc+proto" };

/** The context of one gRPC call; what most calls never look at is made when it is looked at. */
export class LeanContext implements HandlerContext {
  readonly protocolName = "grpc";
  readonly requestMethod = "POST";
  readonly method: DescMethod;
  readonly service: DescService;
  readonly url: string;
  readonly values: ContextValues;
  readonly #request: CallRequest;
  readonly #endsAtMs: number | undefined;
  #responseHeader: Headers | undefined;
  #responseTrailer: Headers | undefined;

  constructor(method: DescMethod, request: CallRequest) {
    this.method = method;
    this.service = method.parent;
    this.url = request.url;
    this.#request = request;
    this.values = request.contextValues;
    this.#endsAtMs = request.timeoutMs === undefined ? undefined : Date.now() + request.timeoutMs;
  }

  get requestHeader(): Headers {
    return this.#request.header;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get responseHeader(): Headers {
    this.#responseHeader ??= new Headers(leanHead);
    return this.#responseHeader;
  }

  get responseTrailer(): Headers {
    this.#responseTrailer ??= new Headers();
    return this.#responseTrailer;
  }

  /** Undefined: nobody has asked for them. */
  get touchedHeader(): Headers | undefined {
    return this.#responseHeader;
  }

  get touchedTrailer(): Headers | undefined {
    return this.#responseTrailer;
  }

  /** Milliseconds until the deadline; undefined without one. */
  timeoutMs(): number | undefined {
    return this.#endsAtMs === undefined ? undefined : this.#endsAtMs - Date.now();
  }
}
