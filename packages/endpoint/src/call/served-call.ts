import type { OutgoingHttpHeaders } from "node:http";
import { Code, ConnectError, createContextValues, type HandlerContext } from "@connectrpc/connect";
import type { Clock } from "@trivium/core";
import { toConnectError } from "@trivium/rpc";
import type { Exchange } from "../exchange/exchange.ts";
import { guardFlush } from "../exchange/flush-guard.ts";
import { PIECE_BYTES, piecesOf } from "../exchange/pieces-of.ts";
import type { EndpointLimits } from "../limits.ts";
import { type CallObserver, observerKey } from "./call-gate.ts";
import type { CallHandler, CallResponse } from "./call-handler.ts";
import { type CallProtocol, timeoutOf } from "./call-protocol.ts";
import { answerError } from "./error-answer.ts";
import { toNodeHeaders } from "./headers.ts";
import { releasePiece } from "./large-message.ts";
import { LazySignal } from "./lazy-signal.ts";
import type { RegisteredMethod } from "./registrations.ts";
import { RequestBody } from "./request-body.ts";
import type { RequestHeaders } from "./request-headers.ts";

/** Made once: an error with its stack costs more than the rest of a small call's end. */
const callIsOver = new ConnectError("the call is over", Code.Canceled);

/** What fits in a timer of the platform: 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What a call needs beyond its request. */
export interface CallEnvironment {
  readonly clock: Clock;
  readonly limits: EndpointLimits;
  /** What every response carries: request id, CORS. */
  readonly baseHeaders: OutgoingHttpHeaders;
  /** Called at most once, as soon as the outcome is known. Undefined: OK. */
  readonly onOutcome: (error: ConnectError | undefined) => void;
  readonly onWriteStall: () => void;
}

/**
 * Carries one call between an exchange and the handler of its method, and owns its end.
 *
 * However the call ends (answered, failed, reset, connection lost, time up, reader stalled, drained), the handler's
 * signal is aborted and its generator finished at once, even while it waits for the reader.
 */
export class ServedCall implements CallObserver {
  readonly protocol: CallProtocol;
  readonly #exchange: Exchange;
  readonly #method: RegisteredMethod;
  readonly #handler: CallHandler;
  /** The handler leaves the deadline to us. */
  readonly #isLean: boolean;
  readonly #environment: CallEnvironment;
  readonly #signal = new LazySignal();
  readonly #body: RequestBody;
  readonly #timers = new Set<Disposable>();
  #context: HandlerContext | undefined;
  #iterator: AsyncIterator<Uint8Array> | undefined;
  #wake: (() => void) | undefined;
  #isInsideFrame = false;
  #isEnded = false;
  #isSettled = false;

  constructor(
    call: { exchange: Exchange; method: RegisteredMethod; protocol: CallProtocol; isLean: boolean },
    environment: CallEnvironment,
  ) {
    this.protocol = call.protocol;
    this.#exchange = call.exchange;
    this.#method = call.method;
    const { lean, universal } = call.method;
    this.#isLean = call.isLean && lean !== undefined;
    this.#handler = this.#isLean && lean !== undefined ? lean : universal;
    this.#environment = environment;
    const { kind } = call.method.spec;
    this.#body = new RequestBody(call.exchange, {
      clock: environment.clock,
      stallMs: environment.limits.bodyStallMs,
      isMessageStream: kind === "client_streaming" || kind === "bidi_streaming",
    });
  }

  /** Serves the call. Never rejects; it resolves when the handler is done, which may be before the last byte left. */
  async run(headers: RequestHeaders): Promise<void> {
    const { endGraceMs } = this.#environment.limits;
    this.#exchange.onClose((reason) => this.#onClose(reason));
    this.#exchange.onDrain(() => this.#wake?.());
    const timeoutMs = timeoutOf(this.protocol, this.#exchange.headers);
    if (timeoutMs !== undefined && timeoutMs > MAX_TIMER_MS) {
      // Connect would give it to a timer that fires at once; ours below can wait so long.
      for (const name of ["grpc-timeout", "connect-timeout-ms"]) headers.delete(name);
    }
    if (timeoutMs !== undefined) {
      const timeUp = (): ConnectError => new ConnectError("the operation timed out", Code.DeadlineExceeded);
      // Connect aborts the handler's signal on time; then this is for handlers that do not listen.
      if (this.#isLean) this.#after(timeoutMs, () => this.cancel(timeUp()));
      else this.#after(timeoutMs + endGraceMs, () => this.end(timeUp()));
    }
    const scheme = this.#exchange.connection.isEncrypted ? "https" : "http";
    const signal = this.#signal;
    try {
      const response = await this.#handler({
        httpVersion: this.#exchange.httpVersion,
        method: this.#exchange.method,
        url: `${scheme}://${this.#exchange.authority}${this.#exchange.target}`,
        get header() {
          return headers.web;
        },
        body: this.#body,
        timeoutMs,
        get signal() {
          return signal.signal;
        },
        contextValues: createContextValues().set(observerKey, this),
      });
      await this.#respond(response);
    } catch (thrown) {
      this.end(toConnectError(thrown));
    } finally {
      this.#clearTimers();
    }
  }

  onContext(context: HandlerContext): void {
    this.#context = context;
  }

  onStart(): void {
    const { kind } = this.#method.spec;
    if (kind !== "server_streaming" && kind !== "bidi_streaming") return;
    this.#after(this.#method.limits.headerGraceMs, () => this.#sendEarlyHead());
  }

  onFailure(error: ConnectError): void {
    const isExcess = / is larger than configured (read|write)MaxBytes /.test(error.rawMessage);
    if (isExcess && this.#method.limits.excess === "outOfRange") {
      // Connect puts the error on the wire after this, and offers no other place to choose the status.
      Object.assign(error, { code: Code.OutOfRange });
    }
    this.#settle(error);
  }

  /** Tells the handler to stop with this status, and ends the call itself if it does not. */
  cancel(error: ConnectError): void {
    if (this.#isEnded) return;
    this.#signal.abort(error);
    this.#body.fail(error);
    this.#after(this.#environment.limits.endGraceMs, () => this.end(error));
  }

  /** Ends the call with a status now, whatever its handler does. Does nothing when it has ended. */
  end(error: ConnectError): void {
    if (!this.#release(error)) return;
    // Anything after half a frame would be read as its other half.
    if (this.#isInsideFrame && this.protocol !== "grpc") this.#exchange.reset();
    else answerError(this.#exchange, this.protocol, { error, headers: this.#environment.baseHeaders });
    this.#guardFlush();
  }

  async #respond(response: CallResponse): Promise<void> {
    const iterator = response.body;
    this.#iterator = iterator;
    if (this.#isEnded) {
      this.#finishGenerator();
      return;
    }
    let chunk = await iterator?.next();
    const headers = { ...this.#environment.baseHeaders, ...response.head() };
    if (this.#isEnded) return;
    if (!this.#exchange.areHeadersSent) {
      if (chunk === undefined || chunk.done === true) {
        this.#complete(response.status);
        this.#exchange.sendEmpty(response.status, { ...headers, ...response.trailers() });
        return;
      }
      this.#exchange.sendHead(response.status, headers);
    }
    while (iterator !== undefined && chunk !== undefined && chunk.done !== true) {
      const isTaken = this.#write(chunk.value);
      if (isTaken !== true && !(await isTaken)) return;
      chunk = await iterator.next();
      if (this.#isEnded) return;
    }
    this.#complete(response.status);
    this.#exchange.end(response.trailers());
    this.#guardFlush();
  }

  /** True at once, as for most messages, or later; false when the call ended while the reader was waited for. */
  #write(frame: Uint8Array): boolean | Promise<boolean> {
    if (frame.byteLength > PIECE_BYTES) return this.#writePieces(frame);
    return this.#exchange.write(frame) ? !this.#isEnded : this.#drained();
  }

  async #writePieces(frame: Uint8Array): Promise<boolean> {
    let leftBytes = frame.byteLength;
    let isTaken = false;
    for (const piece of piecesOf(frame)) {
      if (this.#isEnded) return false;
      leftBytes -= piece.byteLength;
      this.#isInsideFrame = leftBytes > 0;
      isTaken = this.#exchange.write(piece);
      if (!isTaken && !(await this.#drained())) return false;
    }
    this.#isInsideFrame = false;
    if (this.#isEnded) return false;
    // Whoever had to wait knows that all of it is gone.
    if (!isTaken) releasePiece(frame);
    return true;
  }

  /** Waits for the reader, or for the end of the call. */
  #drained(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#environment.clock.setTimer(this.#method.limits.writeStallMs, () => this.#onStall());
      this.#wake = () => {
        this.#wake = undefined;
        timer[Symbol.dispose]();
        resolve(!this.#isEnded);
      };
    });
  }

  #guardFlush(): void {
    const { clock, onWriteStall } = this.#environment;
    const stallMs = this.#method.limits.writeStallMs;
    guardFlush(this.#exchange, { clock, stallMs, onStall: onWriteStall });
  }

  #onStall(): void {
    this.#environment.onWriteStall();
    const message = `the client read nothing for ${this.#method.limits.writeStallMs} ms`;
    this.#release(new ConnectError(message, Code.ResourceExhausted));
    this.#exchange.reset();
  }

  /** A handler without a first message yet: the client learns that the call has been accepted. */
  #sendEarlyHead(): void {
    if (this.#context === undefined || this.#isEnded || this.#exchange.areHeadersSent) return;
    const headers = { ...this.#environment.baseHeaders, ...toNodeHeaders(this.#context.responseHeader) };
    try {
      this.#exchange.sendHead(200, headers);
    } catch (thrown) {
      // A header that Node does not take. Nobody is above this timer.
      this.end(toConnectError(thrown));
    }
  }

  #onClose(reason: ConnectError | undefined): void {
    if (reason !== undefined) this.#release(reason);
  }

  #complete(status: number): void {
    this.#isEnded = true;
    this.#body.fail(callIsOver);
    if (this.#isLean) this.#signal.abort(callIsOver);
    if (status === 200) this.#settle(undefined);
    else this.#settle(new ConnectError(`http status ${status}`, Code.InvalidArgument));
  }

  /** False when the call had ended before. */
  #release(error: ConnectError): boolean {
    if (this.#isEnded) return false;
    this.#isEnded = true;
    this.#settle(error);
    this.#clearTimers();
    this.#signal.abort(error);
    this.#body.fail(error);
    this.#wake?.();
    this.#finishGenerator();
    return true;
  }

  /** Runs the `finally` of a handler that is suspended at a `yield`. One that awaits was woken by its signal. */
  #finishGenerator(): void {
    // Connect swallows what the generator throws now; the status interceptor has seen it.
    this.#iterator?.return?.()?.catch(() => {});
  }

  #settle(error: ConnectError | undefined): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#environment.onOutcome(error);
  }

  #after(delayMs: number, callback: () => void): void {
    if (this.#isEnded) return;
    this.#timers.add(this.#environment.clock.setTimer(delayMs, callback));
  }

  #clearTimers(): void {
    for (const timer of this.#timers) timer[Symbol.dispose]();
    this.#timers.clear();
  }
}
