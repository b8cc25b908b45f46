import type { OutgoingHttpHeaders } from "node:http";
import type { Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ContextValues,
  type HandlerContext,
  type Interceptor,
  type MethodImplSpec,
  type StreamResponse,
  type UnaryResponse,
} from "@connectrpc/connect";
import { type CallObserver, observerKey } from "./call-gate.ts";
import type { CallHandler, CallRequest, CallResponse } from "./call-handler.ts";
import { setTrailerStatus } from "./connect-protocol.ts";
import { toNodeHeaders } from "./headers.ts";
import { LeanContext, leanHead } from "./lean-context.ts";
import { decode, encode, normalise, normalised } from "./message-codec.ts";
import { readSingleMessage } from "./single-message.ts";

/** What the handler of one method is made of. */
export interface GrpcHandlerOptions {
  readonly spec: Extract<MethodImplSpec, { kind: "unary" | "server_streaming" }>;
  /** Outermost first. */
  readonly interceptors: readonly Interceptor[];
  /** Runs before the request is read. */
  readonly requestGate: ((context: HandlerContext) => void | Promise<void>) | undefined;
  readonly readMaxBytes: number;
  readonly writeMaxBytes: number;
}

/**
 * The hot path: gRPC with binary messages, nothing compressed, one request message. Does what Connect's handler does,
 * with the same statuses and texts, at a fifth of its cost.
 */
export function grpcHandler(options: GrpcHandlerOptions): CallHandler {
  return async (request) => {
    const context = new LeanContext(options.spec.method, request);
    const answer = new GrpcAnswer(context, options);
    await answer.open(request);
    return answer;
  };
}

type AnyFn = Parameters<Interceptor>[0];

/** From here on copying a message behind its envelope costs more than a second write. */
const SEPARATE_BYTES = 256 * 1024;
/** One byte of flags and four of length. */
const PREFIX_BYTES = 5;

/** The answer of one call, pulled message by message. */
class GrpcAnswer implements CallResponse, AsyncIterator<Uint8Array, undefined> {
  readonly status = 200;
  readonly body: AsyncIterator<Uint8Array, undefined> = this;
  readonly #context: LeanContext;
  readonly #options: GrpcHandlerOptions;
  readonly #observer: CallObserver | undefined;
  /** The one message of a unary answer. */
  #message: Message | undefined;
  /** The messages of a streamed answer. */
  #messages: AsyncIterator<Message> | undefined;
  /** What interceptors made of the answer; undefined: nothing. */
  #response: UnaryResponse | StreamResponse | undefined;
  #error: ConnectError | undefined;
  /** The bytes of a large message whose envelope has been handed out. */
  #payload: Uint8Array[] = [];

  constructor(context: LeanContext, options: GrpcHandlerOptions) {
    this.#context = context;
    this.#options = options;
    this.#observer = context.values.get(observerKey);
  }

  /** Runs the implementation to its message, or to its stream of messages. What it throws becomes the status. */
  async open(request: CallRequest): Promise<void> {
    const { spec, requestGate } = this.#options;
    try {
      this.#observer?.onContext(this.#context);
      await requestGate?.(this.#context);
      if (spec.kind === "unary") await this.#openUnary(request, spec);
      else await this.#openStream(request, spec);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const piece = this.#payload.shift();
    if (piece !== undefined) return { done: false, value: piece };
    try {
      if (this.#message !== undefined) {
        const message = this.#message;
        this.#message = undefined;
        return { done: false, value: this.#encode(message) };
      }
      const result = await this.#messages?.next();
      if (result?.done === false) return { done: false, value: this.#encode(result.value) };
      this.#messages = undefined;
    } catch (thrown) {
      this.#fail(thrown);
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    const messages = this.#messages;
    this.#messages = undefined;
    await messages?.return?.();
    return { done: true, value: undefined };
  }

  head(): OutgoingHttpHeaders {
    const header = this.#response?.header ?? this.#context.touchedHeader;
    return { ...leanHead, ...(header !== undefined && toNodeHeaders(header)) };
  }

  trailers(): OutgoingHttpHeaders {
    const trailer = this.#response?.trailer ?? this.#context.touchedTrailer;
    if (this.#error !== undefined) {
      return toNodeHeaders(setTrailerStatus(trailer ?? new Headers(), this.#error));
    }
    return { ...(trailer !== undefined && toNodeHeaders(trailer)), "grpc-status": "0" };
  }

  async #openUnary(request: CallRequest, spec: Extract<MethodImplSpec, { kind: "unary" }>): Promise<void> {
    const bytes = await readSingleMessage(request.body, { kind: "unary", ...this.#options });
    const context = this.#context;
    let own: UnaryResponse | undefined;
    const invoke: AnyFn = async (call) => {
      if (call.stream) throw new ConnectError("a unary call became a stream", Code.Internal);
      const output = await spec.impl(call.message, call === sent ? context : contextOf(context, call));
      own = {
        stream: false,
        service: context.service,
        method: spec.method,
        message: normalise(spec.method.output, output),
        get header() {
          return context.responseHeader;
        },
        get trailer() {
          return context.responseTrailer;
        },
      };
      return own;
    };
    const sent = {
      ...fixedPartOf(context),
      get header() {
        return context.requestHeader;
      },
      get signal() {
        return context.signal;
      },
      stream: false,
      method: spec.method,
      message: decode(spec.method.input, bytes),
    } as const;
    const response = await this.#intercepted(invoke)(sent);
    if (response.stream) throw new ConnectError("a unary answer became a stream", Code.Internal);
    // Looking at the headers of our own answer would make them.
    if (response !== own) this.#response = response;
    this.#message = response.message;
  }

  async #openStream(
    request: CallRequest,
    spec: Extract<MethodImplSpec, { kind: "server_streaming" }>,
  ): Promise<void> {
    const { input, output } = spec.method;
    const context = this.#context;
    const options = { kind: "server-streaming", ...this.#options } as const;
    async function* messages(): AsyncGenerator<Message, void, undefined> {
      yield decode(input, await readSingleMessage(request.body, options));
    }
    const invoke: AnyFn = async (call) => {
      if (!call.stream) throw new ConnectError("a streaming call became unary", Code.Internal);
      const first = await call.message[Symbol.asyncIterator]().next();
      if (first.done === true) {
        const message = "protocol error: missing input message for server-streaming method";
        throw new ConnectError(message, Code.Unimplemented);
      }
      return {
        stream: true,
        service: context.service,
        method: spec.method,
        message: normalised(
          output,
          spec.impl(first.value, call === sent ? context : contextOf(context, call)),
        ),
        header: context.responseHeader,
        trailer: context.responseTrailer,
      };
    };
    const sent = {
      ...fixedPartOf(context),
      get header() {
        return context.requestHeader;
      },
      get signal() {
        return context.signal;
      },
      stream: true,
      method: spec.method,
      message: messages(),
    } as const;
    const response = await this.#intercepted(invoke)(sent);
    if (!response.stream) throw new ConnectError("a streamed answer became unary", Code.Internal);
    this.#response = response;
    this.#messages = response.message[Symbol.asyncIterator]();
  }

  #intercepted(invoke: AnyFn): AnyFn {
    return this.#options.interceptors.reduceRight((next, interceptor) => interceptor(next), invoke);
  }

  #encode(message: Message): Uint8Array {
    const { method } = this.#options.spec;
    const { writeMaxBytes } = this.#options;
    const pieces = encode(method.output, message);
    const byteLength = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
    if (byteLength > writeMaxBytes) {
      const text = `message size ${byteLength} is larger than configured writeMaxBytes ${writeMaxBytes}`;
      throw new ConnectError(text, Code.ResourceExhausted);
    }
    const isSeparate = byteLength >= SEPARATE_BYTES;
    const frame = Buffer.allocUnsafe(PREFIX_BYTES + (isSeparate ? 0 : byteLength));
    frame[0] = 0;
    frame.writeUInt32BE(byteLength, 1);
    if (isSeparate) {
      this.#payload = pieces;
      return frame;
    }
    let offset = PREFIX_BYTES;
    for (const piece of pieces) {
      frame.set(piece, offset);
      offset += piece.byteLength;
    }
    return frame;
  }

  #fail(thrown: unknown): void {
    const error =
      thrown instanceof ConnectError
        ? thrown
        : new ConnectError("internal error", Code.Internal, undefined, undefined, thrown);
    this.#observer?.onFailure(error);
    this.#error = error;
    const messages = this.#messages;
    this.#messages = undefined;
    // Its own errors are not the call's any more.
    messages?.return?.().catch(() => {});
  }
}

/** What interceptors see of every call. Header and signal are beside it as getters: most calls need neither. */
function fixedPartOf(context: LeanContext): {
  readonly requestMethod: string;
  readonly url: string;
  readonly service: LeanContext["service"];
  readonly contextValues: ContextValues;
} {
  const { requestMethod, url, service, values: contextValues } = context;
  return { requestMethod, url, service, contextValues };
}

/** The context with what interceptors have replaced. */
function contextOf(
  context: LeanContext,
  call: { readonly header: Headers; readonly signal: AbortSignal; readonly contextValues: ContextValues },
): HandlerContext {
  const isSame =
    call.header === context.requestHeader &&
    call.signal === context.signal &&
    call.contextValues === context.values;
  if (isSame) return context;
  return {
    method: context.method,
    service: context.service,
    protocolName: context.protocolName,
    requestMethod: context.requestMethod,
    url: context.url,
    timeoutMs: () => context.timeoutMs(),
    responseHeader: context.responseHeader,
    responseTrailer: context.responseTrailer,
    requestHeader: call.header,
    signal: call.signal,
    values: call.contextValues,
  };
}
