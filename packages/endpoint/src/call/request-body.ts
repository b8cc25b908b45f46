import { Code, ConnectError } from "@connectrpc/connect";
import type { Clock } from "@trivium/core";
import { connectionLost } from "../exchange/close-reason.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { ByteHolder } from "./byte-budget.ts";
import { EnvelopeMeter } from "./envelope-meter.ts";

export interface RequestBodyOptions {
  readonly clock: Clock;
  /** Time without a byte while a message is expected. */
  readonly stallMs: number;
  /**
   * Whether the request is a stream of enveloped messages, each done with as soon as it is whole. Otherwise the body
   * is held to its end, and expected to keep coming.
   */
  readonly isMessageStream: boolean;
}

/**
 * The bytes of a request, pulled by the handler: counted against the budgets while they are held, and failed when
 * they stop coming in the middle.
 */
export class RequestBody implements AsyncIterableIterator<Uint8Array, undefined>, ByteHolder {
  readonly #exchange: Exchange;
  readonly #options: RequestBodyOptions;
  readonly #meter: EnvelopeMeter | undefined;
  #heldBytes = 0;
  #failure: ConnectError | undefined;
  #isStarted = false;
  #isDone = false;
  #wake: (() => void) | undefined;

  constructor(exchange: Exchange, options: RequestBodyOptions) {
    this.#exchange = exchange;
    this.#options = options;
    this.#meter = options.isMessageStream ? new EnvelopeMeter() : undefined;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#start();
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isDone) return { done: true, value: undefined };
      const chunk: unknown = this.#exchange.body.read();
      if (chunk instanceof Uint8Array) {
        this.#hold(chunk);
        if (this.#failure !== undefined) throw this.#failure;
        return { done: false, value: chunk };
      }
      if (this.#exchange.body.readableEnded) {
        this.#finish();
        continue;
      }
      if (this.#exchange.body.destroyed) throw connectionLost();
      await this.#change();
    }
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#finish();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  refuse(): void {
    this.fail(new ConnectError("too many request bytes are waiting to be handled", Code.ResourceExhausted));
  }

  /** Lets everything go; whoever reads gets `error`. */
  fail(error: ConnectError): void {
    if (this.#isDone) return;
    this.#failure ??= error;
    this.#release();
    this.#wake?.();
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const wake = (): void => this.#wake?.();
    this.#exchange.body.on("readable", wake).on("end", wake).on("close", wake);
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      const isExpected = this.#meter === undefined || this.#meter.isInsideMessage;
      const timer = isExpected
        ? this.#options.clock.setTimer(this.#options.stallMs, () => {
            const message = `the request made no progress for ${this.#options.stallMs} ms`;
            this.fail(new ConnectError(message, Code.DeadlineExceeded));
          })
        : undefined;
      this.#wake = () => {
        this.#wake = undefined;
        timer?.[Symbol.dispose]();
        resolve();
      };
    });
  }

  #hold(chunk: Uint8Array): void {
    this.#meter?.add(chunk);
    if (this.#meter?.isInsideMessage === false) {
      this.#release();
      return;
    }
    this.#heldBytes += chunk.byteLength;
    this.#exchange.connection.budget.take(this, chunk.byteLength);
  }

  #release(): void {
    const bytes = this.#heldBytes;
    this.#heldBytes = 0;
    this.#exchange.connection.budget.release(this, bytes);
  }

  #finish(): void {
    this.#isDone = true;
    this.#release();
    this.#wake?.();
  }
}
