/** Longest delay that Node's timers take; longer ones are chained. */
const maxTimerMs = 2 ** 31 - 1;

/** The timers of one program. The program keeps the callbacks, this keeps the time. */
export class ScriptTimers {
  readonly #handles = new Map<number, NodeJS.Timeout>();
  readonly #fire: (timerId: number) => void;

  constructor(fire: (timerId: number) => void) {
    this.#fire = fire;
  }

  set(timerId: number, delayMs: number): void {
    const stepMs = Math.min(delayMs, maxTimerMs);
    const handle = setTimeout(() => {
      if (delayMs > stepMs) {
        this.set(timerId, delayMs - stepMs);
        return;
      }
      this.#handles.delete(timerId);
      this.#fire(timerId);
    }, stepMs);
    this.#handles.set(timerId, handle);
  }

  clear(timerId: number): void {
    clearTimeout(this.#handles.get(timerId));
    this.#handles.delete(timerId);
  }

  clearAll(): void {
    for (const handle of this.#handles.values()) clearTimeout(handle);
    this.#handles.clear();
  }
}
