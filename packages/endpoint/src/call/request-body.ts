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
  readonly #onChange = (): void => this.#wake?.();
  #receivedBytes = 0;
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
    const { body } = this.#exchange;
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isDone) return { done: true, value: undefined };
      const chunk: unknown = body.read();
      if (chunk instanceof Uint8Array) {
        this.#hold(chunk);
        if (this.#failure !== undefined) throw this.#failure;
        return { done: false, value: chunk };
      }
      if (body.readableEnded) {
        this.#finish();
        continue;
      }
      if (body.destroyed) throw connectionLost();
      this.#start();
      await this.#change();
    }
  }

  /** Whether the client has sent all of it and all of that has been taken. */
  get isExhausted(): boolean {
    return this.#exchange.body.readableLength === 0 && this.#exchange.isRequestComplete;
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

  /** Lets everything go, also what is yet to come; whoever reads gets `error`. */
  fail(error: ConnectError): void {
    if (this.#isDone) return;
    this.#failure ??= error;
    this.#letGo();
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const { body } = this.#exchange;
    body.on("readable", this.#onChange).on("end", this.#onChange).on("close", this.#onChange);
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      const isExpected = this.#meter === undefined || this.#meter.unfinishedBytes > 0;
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
    this.#receivedBytes += chunk.byteLength;
    this.#meter?.add(chunk);
    const heldBytes = this.#meter?.unfinishedBytes ?? this.#receivedBytes;
    this.#exchange.connection.budget.set(this, heldBytes);
  }

  #finish(): void {
    this.#isDone = true;
    this.#letGo();
  }

  /**
   * What arrives from now on is thrown away. With bytes that nobody reads Node would tell neither the end of the request
   * nor that of its stream, and keep both.
   */
  #letGo(): void {
    this.#exchange.connection.budget.set(this, 0);
    const { body } = this.#exchange;
    body.off("readable", this.#onChange).off("end", this.#onChange).off("close", this.#onChange);
    if (!body.destroyed) body.resume();
    this.#wake?.();
  }
}
