const brand: unique symbol = Symbol.for("trivium.error");

/**
 * What went wrong, in terms a caller can act on. One status code belongs to each kind
 * (`@trivium/rpc`, `toConnectError`).
 */
export type ErrorKind =
  | "invalidInput"
  | "notFound"
  | "alreadyExists"
  | "failedPrecondition"
  | "permissionDenied"
  | "unauthenticated"
  | "resourceExhausted"
  | "outOfRange"
  | "aborted"
  | "cancelled"
  | "deadlineExceeded"
  | "unavailable"
  | "unimplemented"
  | "dataLoss"
  | "internal";

/**
 * The base of every error that crosses a package border.
 *
 * Compare with {@link TriviumError.isInstance}, not `instanceof`: two copies of this package may be loaded in
 * one process. The message travels to clients: it names the value and what would be right, and holds no secret.
 */
export class TriviumError extends Error {
  override readonly name: string = "TriviumError";
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
    Object.defineProperty(this, brand, { value: true });
  }

  static isInstance(value: unknown): value is TriviumError {
    return value instanceof Error && brand in value;
  }
}
