import type { Clock } from "@trivium/core";

const SILENT_INTERVALS = 3;

/** Tells when a host that sends heartbeats has fallen silent. One that never sent any is not judged. */
export class PeerWatch implements Disposable {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #onSilence: (silentMs: number) => void;
  #beats = false;
  #timer: Disposable | undefined;

  constructor(clock: Clock, intervalMs: number, onSilence: (silentMs: number) => void) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
    this.#onSilence = onSilence;
  }

  /** Something arrived. */
  heard(isHeartbeat: boolean): void {
    if (isHeartbeat) this.#beats = true;
    if (!this.#beats || this.#intervalMs <= 0) return;
    this.#timer?.[Symbol.dispose]();
    const silentMs = this.#intervalMs * SILENT_INTERVALS;
    this.#timer = this.#clock.setTimer(silentMs, () => this.#onSilence(silentMs));
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }
}
