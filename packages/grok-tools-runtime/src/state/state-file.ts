import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, type Logger, TriviumError } from "@trivium/core";
import { systemCodeOf } from "../file-error.ts";
import type { JsonObject } from "../json.ts";
import { emptyStateDocument, parseStateDocument, type StateDocument } from "./state-document.ts";

const FILE_NAME = "resources_state.json";
/** Between two writes at least; saves in between become one. */
const WRITE_INTERVAL_MS = 500;

/** What was found on disk. */
export interface LoadedState {
  readonly document: StateDocument;
  /** The file could not be read as a tool state and was set aside. */
  readonly isCorrupt: boolean;
}

/** The state file of a session folder. One process writes it. */
export class StateFile {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #pending: (() => JsonObject) | undefined;
  #timer: Disposable | undefined;
  #lastWriteMs = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> = Promise.resolve();
  #writtenText: string | undefined;
  #isClosed = false;

  constructor(folder: string, { clock, logger }: { clock: Clock; logger: Logger }) {
    this.#folder = folder;
    this.#clock = clock;
    this.#logger = logger;
  }

  /**
   * Reads the saved state. A missing file is an empty state, a malformed one is renamed and reported.
   *
   * @throws {@link TriviumError} `unavailable` when it is there but cannot be read: a session without it would write
   * an empty state over it.
   */
  async load(): Promise<LoadedState> {
    const path = join(this.#folder, FILE_NAME);
    let text: string;
    try {
      text = await readFile(path, "utf8");
    } catch (cause) {
      const code = systemCodeOf(cause);
      if (code === "ENOENT") return { document: emptyStateDocument, isCorrupt: false };
      this.#logger.error({ path, cause }, "the saved state cannot be read");
      throw new TriviumError(
        "unavailable",
        `the saved state of the session cannot be read (${code ?? "unknown cause"}); try again, or remove ${FILE_NAME} from the session's folder`,
        { cause },
      );
    }
    const document = parseStateDocument(text);
    if (!("fault" in document)) return { document, isCorrupt: false };
    const aside = `${path}.corrupt-${Math.floor(this.#clock.now() / 1000)}`;
    await rename(path, aside);
    this.#logger.error({ aside, reason: document.message }, "the saved state is malformed and was set aside");
    return { document: emptyStateDocument, isCorrupt: true };
  }

  /** Saves soon: at once when the last write is long enough ago. `snapshot` is called when it is written. */
  schedule(snapshot: () => JsonObject): void {
    if (this.#isClosed) return;
    this.#pending = snapshot;
    if (this.#timer !== undefined) return;
    const waitMs = Math.max(0, this.#lastWriteMs + WRITE_INTERVAL_MS - this.#clock.monotonic());
    this.#timer = this.#clock.setTimer(waitMs, () => this.#writePending());
  }

  /** Writes what is scheduled and waits for it. Failures are logged: the session goes on without its file. */
  async flush(): Promise<void> {
    this.#writePending();
    await this.#writing;
  }

  /** Writes a last time. Later saves are ignored: the folder may belong to the next session by then. */
  async close(snapshot: () => JsonObject): Promise<void> {
    this.schedule(snapshot);
    this.#isClosed = true;
    await this.flush();
  }

  #writePending(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    const snapshot = this.#pending;
    this.#pending = undefined;
    if (snapshot === undefined) return;
    this.#lastWriteMs = this.#clock.monotonic();
    this.#writing = this.#writing
      .then(() => this.#write(`${JSON.stringify(snapshot(), null, 2)}\n`))
      .catch((cause: unknown) => {
        this.#logger.error({ folder: this.#folder, cause }, "the session state cannot be saved");
      });
  }

  async #write(text: string): Promise<void> {
    if (text === this.#writtenText) return;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, FILE_NAME);
    const temporary = `${path}.tmp`;
    await rm(temporary, { force: true });
    await using file = await open(temporary, "wx", 0o600);
    await file.writeFile(text);
    await file.sync();
    await rename(temporary, path);
    await using folder = await open(this.#folder, "r");
    await folder.sync();
    this.#writtenText = text;
  }
}
