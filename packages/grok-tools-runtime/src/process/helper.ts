import type { FrameChannel } from "./supervisor/frame-channel.ts";
import type { FromHelper, HelloMessage, ToHelper } from "./supervisor/message.ts";

type Receiver = (message: FromHelper, bytes: Uint8Array) => void;

/** The server's end of a helper process. */
export class Helper {
  readonly pid: number;
  readonly startTicks: number;
  readonly isSubreaper: boolean;
  readonly landlockVersion: number;
  readonly #channel: FrameChannel<FromHelper, ToHelper>;
  #onMessage: Receiver | undefined;
  #onLost: (() => void) | undefined;
  #isLost = false;

  constructor(hello: HelloMessage, channel: FrameChannel<FromHelper, ToHelper>) {
    this.pid = hello.pid;
    this.startTicks = hello.startTicks;
    this.isSubreaper = hello.isSubreaper;
    this.landlockVersion = hello.landlockVersion;
    this.#channel = channel;
  }

  /** True when it has ended or was let go. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Replaces who gets the messages and learns of the end. `onLost` is called even if the end was before. */
  listen(onMessage: Receiver, onLost: () => void): void {
    this.#onMessage = onMessage;
    this.#onLost = onLost;
    if (this.#isLost) queueMicrotask(() => this.#tellLost());
  }

  /** False: it is gone. */
  send(message: ToHelper, bytes?: Uint8Array): boolean {
    return this.#channel.send(message, bytes);
  }

  /** Lets it go: it ends its work and then itself. */
  close(): void {
    this.#channel.end();
  }

  /** Gives it up: it does not answer. */
  destroy(): void {
    this.#channel.destroy();
  }

  /** For the hub: a message has come. */
  receive(message: FromHelper, bytes: Uint8Array): void {
    this.#onMessage?.(message, bytes);
  }

  /** For the hub: the channel has closed. */
  lose(): void {
    this.#isLost = true;
    this.#tellLost();
  }

  #tellLost(): void {
    const onLost = this.#onLost;
    this.#onLost = undefined;
    onLost?.();
  }
}
