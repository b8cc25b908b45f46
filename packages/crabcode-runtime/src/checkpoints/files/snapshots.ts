import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Logger, TriviumError } from "@trivium/core";
import { isInside } from "../../paths/is-inside.ts";
import type { RunProgram } from "../../ports/program-port.ts";
import { type Snapshot, SnapshotRepository } from "./snapshot-repository.ts";

const MAX_BYTES = 100 * 1024 * 1024;

/** What snapshots are made with. */
export interface SnapshotsDeps {
  /** Absent: no program can be run. */
  readonly run: RunProgram | undefined;
  /** Where the repositories are; undefined: nothing is kept on disk. */
  readonly folder: string | undefined;
  /** Folder of all data of the server, which no snapshot holds. Symbolic links resolved. */
  readonly dataFolder: string;
  readonly logger: Logger;
}

/** Where a snapshot belongs. */
export interface SnapshotOwner {
  readonly sessionId: string;
  /** Absolute, symbolic links resolved. */
  readonly cwd: string;
}

/** A snapshot, or one sentence about why there is none. */
export type TakenSnapshot =
  | (Snapshot & { readonly kind: "taken" })
  | { readonly kind: "none"; readonly warning: string };

/** How a snapshot is taken. */
export interface TakeOptions {
  readonly owner: SnapshotOwner;
  /** Absent: it is for now only. */
  readonly checkpointId?: string;
  /** Paths that are kept although they are ignored. */
  readonly also?: readonly string[];
}

/** Snapshots of the folders of all sessions: a repository for each folder, used by one call at a time. */
export class Snapshots {
  readonly #deps: SnapshotsDeps;
  readonly #repositories = new Map<string, SnapshotRepository>();
  readonly #tails = new Map<string, Promise<void>>();

  constructor(deps: SnapshotsDeps) {
    this.#deps = deps;
  }

  /** Keeps the files under the name of a checkpoint, or for now only. Rejects with the reason of the signal only. */
  async take(
    owner: SnapshotOwner,
    { checkpointId }: Pick<TakeOptions, "checkpointId">,
    signal?: AbortSignal,
  ): Promise<TakenSnapshot> {
    const options = { owner, ...(checkpointId !== undefined && { checkpointId }) };
    try {
      return await this.use(owner.cwd, (repository) => this.takeIn(repository, options, signal));
    } catch (cause) {
      return await this.#none(cause, owner, signal);
    }
  }

  /** The same for one who works with the repository already. */
  async takeIn(
    repository: SnapshotRepository,
    { owner, checkpointId, also = [] }: TakeOptions,
    signal?: AbortSignal,
  ): Promise<TakenSnapshot> {
    try {
      const name = checkpointId === undefined ? {} : { refName: refName(owner, checkpointId) };
      return { kind: "taken", ...(await repository.take({ also, ...name }, signal)) };
    } catch (cause) {
      return await this.#none(cause, owner, signal);
    }
  }

  /**
   * Works with the repository of a folder when nobody else does.
   *
   * @throws TriviumError `failedPrecondition` when the server keeps no files
   */
  async use<Result>(cwd: string, job: (repository: SnapshotRepository) => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(cwd) ?? Promise.resolve();
    const { promise: tail, resolve: done } = Promise.withResolvers<void>();
    this.#tails.set(cwd, tail);
    try {
      await before;
      return await job(this.#repository(cwd));
    } finally {
      if (this.#tails.get(cwd) === tail) this.#tails.delete(cwd);
      done();
    }
  }

  /** Frees what checkpoints of a session held. Does not fail. */
  async forget(owner: SnapshotOwner, checkpointIds: readonly string[], signal?: AbortSignal): Promise<void> {
    if (!(await this.#isKept(owner.cwd))) return;
    const names = checkpointIds.map((checkpointId) => refName(owner, checkpointId));
    try {
      await this.use(owner.cwd, (repository) => repository.forget(names, signal));
    } catch (cause) {
      // What stays takes up room, no more.
      const { sessionId } = owner;
      this.#deps.logger.warn({ sessionId, cause }, "old snapshots could not be removed");
    }
  }

  /**
   * Frees everything that a session held.
   *
   * @throws TriviumError when git fails
   */
  async forgetSession(owner: SnapshotOwner): Promise<void> {
    if (!(await this.#isKept(owner.cwd))) return;
    await this.use(owner.cwd, async (repository) =>
      repository.forget(await repository.refsBelow(refPrefix(owner.sessionId))),
    );
  }

  async #isKept(cwd: string): Promise<boolean> {
    const path = this.#pathOf(cwd);
    return path !== undefined && this.#deps.run !== undefined && (await exists(path));
  }

  async #none(cause: unknown, { cwd }: SnapshotOwner, signal?: AbortSignal): Promise<TakenSnapshot> {
    signal?.throwIfAborted();
    return { kind: "none", warning: `no files are kept: ${await this.#why(cause, cwd)}` };
  }

  async #why(cause: unknown, cwd: string): Promise<string> {
    if (!TriviumError.isInstance(cause)) {
      this.#deps.logger.warn({ cwd, cause }, "a snapshot could not be taken");
      return "an internal error";
    }
    if (cause.kind !== "notFound") return cause.message;
    return (await exists(cwd)) ? "git is not installed" : "the folder of the session is gone";
  }

  #repository(cwd: string): SnapshotRepository {
    const known = this.#repositories.get(cwd);
    if (known !== undefined) return known;
    const { run, dataFolder } = this.#deps;
    const path = this.#pathOf(cwd);
    if (run === undefined || path === undefined) {
      throw new TriviumError("failedPrecondition", "this server keeps none");
    }
    const repository = new SnapshotRepository({
      run,
      path,
      folder: cwd,
      // A session may work inside the folder of the data; then only what is kept of it is not kept again.
      excluded: isInside(dataFolder, cwd) ? dirname(path) : dataFolder,
      maxBytes: MAX_BYTES,
    });
    this.#repositories.set(cwd, repository);
    return repository;
  }

  #pathOf(cwd: string): string | undefined {
    const { folder } = this.#deps;
    return folder === undefined ? undefined : join(folder, hash(cwd));
  }
}

/** Names of sessions may hold what git does not take in a name. */
function refPrefix(sessionId: string): string {
  return `refs/sessions/${hash(sessionId)}/`;
}

function refName({ sessionId }: SnapshotOwner, checkpointId: string): string {
  return `${refPrefix(sessionId)}${checkpointId}`;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}
