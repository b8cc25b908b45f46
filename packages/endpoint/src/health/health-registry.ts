/** Which services answer, as `grpc.health.v1` reports it. The empty name is the endpoint as a whole. */
export class HealthRegistry {
  readonly #serving = new Map<string, boolean>([["", true]]);
  readonly #watchers = new Set<() => void>();
  #isDraining = false;

  /** Undefined: no such service. */
  isServing(service: string): boolean | undefined {
    const serving = this.#serving.get(service);
    return serving === undefined ? undefined : serving && !this.#isDraining;
  }

  setServing(service: string, serving: boolean): void {
    this.#serving.set(service, serving);
    this.#notify();
  }

  /** From now on nothing is serving, whatever is set. */
  drain(): void {
    this.#isDraining = true;
    this.#notify();
  }

  services(): readonly string[] {
    return [...this.#serving.keys()];
  }

  /** Resolves at the next change of anything, or when `signal` aborts. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#watchers.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      if (signal.aborted) {
        resolve();
        return;
      }
      this.#watchers.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }

  #notify(): void {
    for (const watcher of this.#watchers) watcher();
  }
}
