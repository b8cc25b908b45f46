import { mkdirSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type EventLogStore, MemoryEventLogStore } from "@trivium/core";
import { SqliteEventLogStore } from "@trivium/core/node";
import { ManualClock, temporaryFolder } from "@trivium/core/testing";
import type {
  CrabcodeRuntime,
  CrabcodeRuntimeOptions,
  SendMessageInput,
  StreamEvent,
} from "../crabcode-runtime.ts";
import { createCrabcodeRuntime } from "../create-crabcode-runtime.ts";
import { MemoryToolbox } from "./memory-toolbox.ts";
import { type ScriptEntry, ScriptedModels } from "./scripted-models.ts";

/** A payload with everything the tests look at. */
export type Payload = Record<string, unknown> & { type: string; seq?: number };

/** Options of a fixture. */
export interface FixtureOptions {
  readonly script?: readonly ScriptEntry[];
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly runtime?: Partial<CrabcodeRuntimeOptions>;
  /** Nothing is kept on disk. */
  readonly isInMemory?: boolean;
  /** Events are kept in a file beside the transcripts. */
  readonly isDurable?: boolean;
}

/** What is left of a killed runtime, started again. */
export interface CrashedCopy extends AsyncDisposable {
  readonly runtime: CrabcodeRuntime;
  readonly models: ScriptedModels;
  readonly dataDir: string;
}

/** A runtime with scripted models, files in memory and a clock that the test moves. */
export class RuntimeFixture implements AsyncDisposable {
  readonly models: ScriptedModels;
  readonly toolbox: MemoryToolbox = new MemoryToolbox();
  readonly clock: ManualClock = new ManualClock();
  readonly cwd: string;
  readonly dataDir: string;
  readonly eventLogs: EventLogStore;
  runtime: CrabcodeRuntime;
  readonly #options: FixtureOptions;
  readonly #folder: AsyncDisposable;

  private constructor(options: FixtureOptions, folder: AsyncDisposable & { path: string }) {
    this.#options = options;
    this.#folder = folder;
    this.models = new ScriptedModels(options.script);
    this.cwd = join(folder.path, "work");
    this.dataDir = join(folder.path, "data");
    mkdirSync(this.dataDir);
    this.eventLogs =
      options.isDurable === true
        ? new SqliteEventLogStore({ path: join(this.dataDir, "events.sqlite"), clock: this.clock })
        : new MemoryEventLogStore({ clock: this.clock });
    this.runtime = this.start();
  }

  static async create(options: FixtureOptions = {}): Promise<RuntimeFixture> {
    const folder = await temporaryFolder();
    await mkdir(join(folder.path, "work"));
    return new RuntimeFixture(options, folder);
  }

  /** Makes a runtime over the same folders. */
  start(overrides: Partial<CrabcodeRuntimeOptions> = {}): CrabcodeRuntime {
    return createCrabcodeRuntime({
      ...(this.#options.isInMemory !== true && { dataDir: this.dataDir }),
      eventLogs: this.eventLogs,
      models: this.models,
      openToolbox: this.toolbox.open,
      workspaceRoots: [this.cwd],
      clock: this.clock,
      settings: { base: this.#options.settings ?? {} },
      version: "1.2.3",
      ...this.#options.runtime,
      ...overrides,
    });
  }

  file(name: string, content: string): void {
    this.toolbox.files.set(join(this.cwd, name), content);
  }

  async send(text: string, more: Partial<SendMessageInput> = {}): Promise<Reader> {
    const message = await this.runtime.sendMessage({ session: { sessionId: "" }, text, ...more });
    return new Reader(message.events);
  }

  /** Watches the default session. */
  async subscribe(afterSeq?: string): Promise<Reader> {
    const { sessionId } = await this.runtime.listModels("");
    return this.watch({ sessionId, ...(afterSeq !== undefined && { afterSeq }) });
  }

  /** Watches one session, or all. */
  async watch({ sessionId, afterSeq }: { sessionId: string; afterSeq?: string }): Promise<Reader> {
    const abort = new AbortController();
    const { events } = await this.runtime.subscribe({
      session: { sessionId },
      signal: abort.signal,
      ...(afterSeq !== undefined && { afterSeq }),
    });
    return new Reader(events, abort);
  }

  /**
   * A second runtime over a copy of the folders as they are now: what a process finds after this one was killed.
   * The caller closes it.
   *
   * @param wrap replaces the store of the events
   */
  async afterCrash(
    script: readonly ScriptEntry[] = [],
    wrap: (store: EventLogStore) => EventLogStore = (store) => store,
  ): Promise<CrashedCopy> {
    const folder = await temporaryFolder();
    await cp(this.dataDir, join(folder.path, "data"), { recursive: true });
    const models = new ScriptedModels(script);
    const eventLogs = new SqliteEventLogStore({
      path: join(folder.path, "data", "events.sqlite"),
      clock: this.clock,
    });
    const runtime = this.start({ dataDir: join(folder.path, "data"), eventLogs: wrap(eventLogs), models });
    return {
      runtime,
      models,
      dataDir: join(folder.path, "data"),
      [Symbol.asyncDispose]: async () => {
        await runtime.close();
        await eventLogs.close();
        await folder[Symbol.asyncDispose]();
      },
    };
  }

  /** Closes the runtime, moving the clock as long as it waits for readers. */
  async closeRuntime(): Promise<void> {
    let isClosed = false;
    const closing = this.runtime.close().finally(() => {
      isClosed = true;
    });
    // It is awaited below.
    closing.catch(() => {});
    while (!isClosed) await this.clock.advance(100);
    await closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.closeRuntime();
    await this.eventLogs.close();
    await this.#folder[Symbol.asyncDispose]();
  }
}

/** Reads a stream in the background and lets a test wait for what comes. */
export class Reader {
  readonly events: Payload[] = [];
  /** Settles as the stream does. */
  readonly ended: Promise<void>;
  readonly #abort: AbortController | undefined;
  #waiters: (() => void)[] = [];

  constructor(stream: AsyncIterable<StreamEvent>, abort?: AbortController) {
    this.#abort = abort;
    this.ended = this.#read(stream);
    // A test that does not wait for the end does not care how it comes.
    this.ended.catch(() => {});
  }

  /** The nth event that has these keys; waits for it. */
  async find(match: Record<string, unknown>, nth = 1): Promise<Payload> {
    for (;;) {
      const found = this.events.filter((event) => fits(event, match))[nth - 1];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** Everything up to the end of the stream. */
  async all(): Promise<Payload[]> {
    await this.ended;
    return this.events;
  }

  leave(): void {
    this.#abort?.abort();
  }

  async #read(stream: AsyncIterable<StreamEvent>): Promise<void> {
    for await (const { payloadJson } of stream) {
      this.events.push(JSON.parse(payloadJson));
      for (const wake of this.#waiters.splice(0)) wake();
    }
  }
}

function fits(event: Payload, match: Record<string, unknown>): boolean {
  return Object.entries(match).every(([key, value]) => event[key] === value);
}

/** A stream in one line an event, for comparing orders. Heartbeats are left out. */
export function outline(events: readonly Payload[]): string[] {
  return events
    .filter(({ type }) => type !== "server.heartbeat")
    .map((event) => {
      const detail =
        event["mode"] ?? event["reason"] ?? event["tool_use_id"] ?? event["text"] ?? event["error_type"];
      return typeof detail === "string" ? `${event.type}:${detail}` : event.type;
    });
}
