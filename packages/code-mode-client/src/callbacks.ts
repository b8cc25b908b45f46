import type { CellNotification, OpenSessionOptions } from "./session-options.ts";

/** The callbacks of a caller, none of which can throw: their failures concern the caller, not the session. */
export class Callbacks {
  readonly #options: OpenSessionOptions;

  constructor(options: OpenSessionOptions) {
    this.#options = options;
  }

  /** Resolves when the handler has finished. */
  notified(notification: CellNotification, signal: AbortSignal): Promise<void> {
    return this.#guard(() => this.#options.onNotification?.(notification, signal));
  }

  cellClosed(cellId: string): void {
    void this.#guard(() => this.#options.onCellClosed?.(cellId));
  }

  async #guard(callback: () => unknown): Promise<void> {
    try {
      await callback();
    } catch (thrown) {
      try {
        this.#options.onCallbackError?.(thrown);
      } catch {
        // There is nobody left to tell.
      }
    }
  }
}
