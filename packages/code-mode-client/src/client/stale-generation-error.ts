import { TriviumError } from "@trivium/core";

const brand: unique symbol = Symbol.for("trivium.code-mode-client.stale-generation");

/** The cell belonged to a session that was lost. It is gone, with its output; nothing was asked of the host. */
export class StaleGenerationError extends TriviumError {
  override readonly name: string = "StaleGenerationError";
  readonly cellId: string;

  constructor(cellId: string, generation: number, options?: ErrorOptions) {
    const message = `exec cell ${cellId} is gone: its session was lost, and the current one is generation ${generation}`;
    super("notFound", message, options);
    this.cellId = cellId;
    Object.defineProperty(this, brand, { value: true });
  }

  static override isInstance(value: unknown): value is StaleGenerationError {
    return value instanceof Error && brand in value;
  }
}
