import type { Clock } from "@trivium/core";
import { bySeverityAndLine, type Diagnostic } from "./diagnostic.ts";

/** What is to be told of a file. */
export interface FileDiagnostics {
  readonly path: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** Where findings come from: a server, and whether it sent them or was asked for them. */
export interface DiagnosticsSource {
  readonly server: string;
  readonly kind: "push" | "pull";
}

/** Longest wait for what servers say of an edit. */
const WAIT_MS = 500;
/** Servers send what they find in portions; after such a pause there is no further one. */
const PAUSE_MS = 100;
/** Servers may speak of every file of a project. */
const MAX_FILES = 2_000;

/** Findings of all servers that the model was not told yet. */
export class DiagnosticsInbox implements Disposable {
  readonly #clock: Clock;
  /** By path, then by source. */
  readonly #found = new Map<string, Map<string, readonly Diagnostic[]>>();
  /** Paths whose findings are not what was told last. */
  readonly #untold = new Set<string>();
  /** By path, as it was told. */
  readonly #told = new Map<string, string>();
  /** Edited files by server that nothing was heard of since. */
  readonly #expected = new Map<string, Set<string>>();
  #waiting: { readonly promise: Promise<void>; end(): void } | undefined;
  #pause: Disposable | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A server will have something to say of a file. */
  expect(server: string, path: string): void {
    const paths = this.#expected.get(server) ?? new Set();
    this.#expected.set(server, paths.add(path));
  }

  /** A server will not say anything of a file now. */
  expectNoMore(server: string, path: string): void {
    if (this.#expected.get(server)?.delete(path) === true) this.#heard();
  }

  /** Replaces what a source has found in a file. */
  put({ server, kind }: DiagnosticsSource, path: string, diagnostics: readonly Diagnostic[]): void {
    const sources = this.#found.get(path) ?? new Map<string, readonly Diagnostic[]>();
    if (sources.size === 0 && this.#found.size >= MAX_FILES) return;
    sources.set(`${kind}:${server}`, diagnostics);
    this.#found.set(path, sources);
    this.#mark(path);
    this.#expected.get(server)?.delete(path);
    this.#heard();
  }

  /** Forgets what a server has found: it has ended. */
  forget(server: string): void {
    for (const [path, sources] of this.#found) {
      sources.delete(`push:${server}`);
      sources.delete(`pull:${server}`);
      this.#mark(path);
    }
    this.#expected.delete(server);
    this.#heard();
  }

  /** Waits for what was expected, half a second at most; nothing is expected after that. */
  async settled(): Promise<void> {
    if (this.#waiting === undefined && !this.#isExpecting()) return;
    await (this.#waiting ??= this.#wait()).promise;
  }

  /** What was not told yet; it counts as told then. */
  take(): FileDiagnostics[] {
    const taken: FileDiagnostics[] = [];
    for (const path of this.#untold) {
      const diagnostics = this.#diagnosticsOf(path);
      if (diagnostics.length === 0) {
        this.#told.delete(path);
        this.#found.delete(path);
      } else {
        this.#told.set(path, JSON.stringify(diagnostics));
        taken.push({ path, diagnostics });
      }
    }
    this.#untold.clear();
    return taken;
  }

  [Symbol.dispose](): void {
    this.#waiting?.end();
  }

  #mark(path: string): void {
    const diagnostics = this.#diagnosticsOf(path);
    const isSame = (this.#told.get(path) ?? "[]") === JSON.stringify(diagnostics);
    if (isSame) this.#untold.delete(path);
    else this.#untold.add(path);
  }

  #diagnosticsOf(path: string): Diagnostic[] {
    const all = [...(this.#found.get(path)?.values() ?? [])].flat().sort(bySeverityAndLine);
    // A server may send what it is also asked for.
    const byText = new Map(all.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic]));
    return [...byText.values()];
  }

  #isExpecting(): boolean {
    return [...this.#expected.values()].some(({ size }) => size > 0);
  }

  #wait(): { promise: Promise<void>; end(): void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const limit = this.#clock.setTimer(WAIT_MS, () => end());
    const end = (): void => {
      limit[Symbol.dispose]();
      this.#pause?.[Symbol.dispose]();
      this.#pause = undefined;
      this.#waiting = undefined;
      this.#expected.clear();
      resolve();
    };
    return { promise, end };
  }

  /** Something has come: the wait is over when it was the last. */
  #heard(): void {
    if (this.#waiting === undefined || this.#isExpecting()) return;
    this.#pause?.[Symbol.dispose]();
    this.#pause = this.#clock.setTimer(PAUSE_MS, () => this.#waiting?.end());
  }
}
