import { TriviumError } from "@trivium/core";

const brand: unique symbol = Symbol.for("trivium.code-mode-client.cell-busy");

/** Somebody looks at the cell already. Wait for that look, or end it. */
export class CellBusyError extends TriviumError {
  override readonly name: string = "CellBusyError";
  readonly cellId: string;

  constructor(cellId: string, options?: ErrorOptions) {
    super("failedPrecondition", `exec cell ${cellId} already has an active observer`, options);
    this.cellId = cellId;
    Object.defineProperty(this, brand, { value: true });
  }

  static override isInstance(value: unknown): value is CellBusyError {
    return value instanceof Error && brand in value;
  }
}
