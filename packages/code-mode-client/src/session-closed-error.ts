import { TriviumError } from "@trivium/core";

const brand: unique symbol = Symbol.for("trivium.code-mode-client.session-closed");

/**
 * The session is over: closed by either side, lost with its connection, or failed. Its cells and stored values are
 * gone; open a new one. `cause` holds what ended it, if it was an error.
 */
export class SessionClosedError extends TriviumError {
  override readonly name: string = "SessionClosedError";

  constructor(message: string, options?: ErrorOptions) {
    super("unavailable", message, options);
    Object.defineProperty(this, brand, { value: true });
  }

  static override isInstance(value: unknown): value is SessionClosedError {
    return value instanceof Error && brand in value;
  }
}
