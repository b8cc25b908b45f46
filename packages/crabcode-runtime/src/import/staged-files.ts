import { existsSync, renameSync, rmSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * The transcripts of a session while they are written: in a folder of their own, so that what a crash or a failure leaves
 * is not what a later session of that id begins with.
 */
export class StagedFiles implements AsyncDisposable {
  /** Where they are written, by the names they are to have. */
  readonly folder: string;
  readonly #transcripts: string;
  readonly #sessionId: string;
  #moved: string[] = [];

  private constructor(transcripts: string, sessionId: string) {
    this.folder = join(transcripts, `.import-${sessionId}`);
    this.#transcripts = transcripts;
    this.#sessionId = sessionId;
  }

  static async create(transcripts: string, sessionId: string): Promise<StagedFiles> {
    const files = new StagedFiles(transcripts, sessionId);
    await rm(files.folder, { recursive: true, force: true });
    await mkdir(files.folder, { recursive: true, mode: 0o700 });
    return files;
  }

  /** Brings them where they belong. What an earlier session left there is replaced. */
  move(): void {
    for (const name of [`${this.#sessionId}.jsonl`, `${this.#sessionId}.agents`]) {
      const [from, to] = [join(this.folder, name), join(this.#transcripts, name)];
      rmSync(to, { recursive: name.endsWith(".agents"), force: true });
      if (!existsSync(from)) continue;
      renameSync(from, to);
      this.#moved.push(to);
    }
  }

  /** What was moved has its rows. */
  keep(): void {
    this.#moved = [];
  }

  /** Removes everything that was not kept. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const path of [this.folder, ...this.#moved]) await rm(path, { recursive: true, force: true });
  }
}
