import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TriviumError } from "@trivium/core";
import { EXACT, type GitAnswer, type GitCall, joinNames, runGit, splitNames } from "../../git/run-git.ts";
import type { RunProgram } from "../../ports/program-port.ts";
import { type ListedFile, listFiles } from "./list-files.ts";
import { parseBlobs, parseSizes } from "./read-blobs.ts";
import { removeStaleLocks } from "./stale-locks.ts";
import { parseChanges, type TreeChange } from "./tree-change.ts";

/** Bytes of blobs that are read at once, one larger than that alone. */
const READ_AT_ONCE_BYTES = 16 * 1024 * 1024;

/** No attribute of the folder changes what is kept: neither line ends, nor filters, nor encodings. */
const ATTRIBUTES = "* -text !eol !ident !filter !working-tree-encoding\n";

/** What a folder without a repository, and so without rules, does not want to have kept. */
const EXCLUDED: ReadonlySet<string> = new Set(["node_modules", ".venv", "venv", "__pycache__"]);

/** What a repository of snapshots is made of. */
export interface SnapshotRepositoryOptions {
  readonly run: RunProgram;
  /** Folder of the repository; made when it is first needed. */
  readonly path: string;
  /** Folder whose files it keeps, symbolic links resolved. */
  readonly folder: string;
  /** Folder whose content is never kept. */
  readonly excluded: string;
  readonly maxBytes: number;
}

/** Files as they were kept. */
export interface Snapshot {
  /** Id of the tree. */
  readonly snapshotId: string;
  /** Relative paths, sorted. */
  readonly files: readonly string[];
}

/**
 * Snapshots of one folder, in a repository of our own with an index of its own. The user's repository is only asked which
 * files there are.
 *
 * One call at a time; whoever calls sees to that. Failures are TriviumErrors whose message is one sentence.
 */
export class SnapshotRepository {
  readonly #options: SnapshotRepositoryOptions;
  #isReady = false;

  constructor(options: SnapshotRepositoryOptions) {
    this.#options = options;
  }

  /**
   * Keeps the files as they are now.
   *
   * @param also paths that are kept although they are ignored
   * @param refName keeps the snapshot from being pruned; absent: it is for now only
   * @throws TriviumError `resourceExhausted` when they are too large, `notFound` when the folder is gone,
   * `failedPrecondition` when a link lies in its place
   */
  async take(
    { also = [], refName }: { readonly also?: readonly string[]; readonly refName?: string },
    signal?: AbortSignal,
  ): Promise<Snapshot> {
    await assertInPlace(this.#options.folder);
    const snapshot = await this.#keep(also, signal).catch(async (cause: unknown) => {
      // The reason of the signal may be one of these errors too.
      signal?.throwIfAborted();
      if (!TriviumError.isInstance(cause) || cause.kind !== "unavailable") throw cause;
      // Files may have changed since they were listed. The index only saves time: a power cut may have damaged it.
      await rm(join(this.#options.path, "index"), { force: true });
      return await this.#keep(also, signal);
    });
    const { snapshotId } = snapshot;
    if (refName !== undefined) await this.#git({ args: ["update-ref", refName, snapshotId], signal });
    return snapshot;
  }

  /** Paths of the files of a snapshot. */
  async filesOf(snapshotId: string, signal?: AbortSignal): Promise<string[]> {
    await this.#prepare(signal);
    const { stdout } = await this.#git({ args: ["ls-tree", "-r", "-z", "--name-only", snapshotId], signal });
    return splitNames(stdout);
  }

  /**
   * What has to change for the second to come out of the first. Files that the second ignores, or left out because the
   * folder was no repository then, are not deleted.
   */
  async changes(fromId: string, toId: string, signal?: AbortSignal): Promise<TreeChange[]> {
    const args = ["diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-ext-diff", fromId, toId];
    const { stdout } = await this.#git({ args, signal });
    const changes = parseChanges(splitNames(stdout));
    const deleted = changes.filter(({ to }) => to === undefined).map(({ path }) => path);
    const needsRules = changes.some(({ path }) => isRules(path)) || deleted.some(isExcluded);
    if (!needsRules || deleted.length === 0) return changes;
    const ignored = await this.#ignoredIn(toId, { paths: deleted, signal });
    return changes.filter(({ path, to }) => to !== undefined || !ignored.has(path));
  }

  /** Sizes of blobs, in bytes. */
  async sizesOf(blobIds: Iterable<string>, signal?: AbortSignal): Promise<Map<string, number>> {
    const input = lines(new Set(blobIds));
    return parseSizes((await this.#git({ args: ["cat-file", "--batch-check"], input, signal })).stdout);
  }

  /** The bytes of blobs, some at a time. */
  async *read(sizes: ReadonlyMap<string, number>): AsyncGenerator<Map<string, Uint8Array>> {
    let some: string[] = [];
    let bytes = 0;
    const readSome = async (): Promise<Map<string, Uint8Array>> => {
      const { stdout } = await this.#git({ args: ["cat-file", "--batch"], input: lines(some) });
      return parseBlobs(stdout);
    };
    for (const [blobId, size] of sizes) {
      if (some.length > 0 && bytes + size > READ_AT_ONCE_BYTES) {
        yield await readSome();
        some = [];
        bytes = 0;
      }
      some.push(blobId);
      bytes += size;
    }
    if (some.length > 0) yield await readSome();
  }

  /** Forgets snapshots and frees what only they held. The repository goes with the last. */
  async forget(refNames: readonly string[], signal?: AbortSignal): Promise<void> {
    await this.#prepare(signal);
    const input = refNames.map((name) => `delete ${name}\n`).join("");
    await this.#git({ args: ["update-ref", "--stdin"], input, signal });
    const left = await this.#git({ args: ["for-each-ref", "--count=1", "--format=%(refname)"], signal });
    if (left.stdout.length > 0) await this.#git({ args: ["prune", "--expire=now"], signal });
    else await this.remove();
  }

  /** Names of what is kept, below a prefix that ends with `/`. */
  async refsBelow(prefix: string): Promise<string[]> {
    await this.#prepare();
    const { stdout } = await this.#git({ args: ["for-each-ref", "--format=%(refname)", prefix] });
    return new TextDecoder()
      .decode(stdout)
      .split("\n")
      .filter((name) => name !== "");
  }

  async remove(): Promise<void> {
    this.#isReady = false;
    await rm(this.#options.path, { recursive: true, force: true });
  }

  async #keep(also: readonly string[], signal: AbortSignal | undefined): Promise<Snapshot> {
    await this.#prepare(signal);
    const { run, folder, excluded } = this.#options;
    const listOutside = (at: string): Promise<Uint8Array> => this.#listOutside(at, signal);
    const listed = await listFiles({ run, folder, excluded, listOutside, signal }, also);
    this.#assertSize(listed);
    const files = listed.map(({ path }) => path);
    return { snapshotId: await this.#writeTree(files, signal), files };
  }

  async #prepare(signal?: AbortSignal): Promise<void> {
    if (this.#isReady) return;
    const { path } = this.#options;
    await mkdir(path, { recursive: true, mode: 0o700 });
    await removeStaleLocks(path);
    await this.#git({ args: ["init", "--quiet", "--bare", "--template=", path], isOutside: true, signal });
    await mkdir(join(path, "info"), { recursive: true });
    await writeFile(join(path, "info", "attributes"), ATTRIBUTES);
    await writeFile(join(path, "info", "exclude"), lines([...EXCLUDED].map((name) => `${name}/`)));
    this.#isReady = true;
  }

  async #listOutside(folder: string, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const args = ["ls-files", "-z", "--others", "--exclude-standard"];
    return (await this.#git({ args, workTree: folder, indexName: "none", signal })).stdout;
  }

  async #writeTree(files: readonly string[], signal: AbortSignal | undefined): Promise<string> {
    const wanted = new Set(files);
    const { stdout } = await this.#git({ args: ["ls-files", "-z"], signal });
    const gone = splitNames(stdout).filter((path) => !wanted.has(path));
    await this.#updateIndex(["--force-remove"], { paths: gone, signal });
    await this.#updateIndex(["--add", "--remove"], { paths: files, signal });
    const tree = await this.#git({ args: ["write-tree"], signal });
    return new TextDecoder().decode(tree.stdout).trim();
  }

  #assertSize(files: readonly ListedFile[]): void {
    const { maxBytes } = this.#options;
    const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (bytes <= maxBytes) return;
    const message = `the files have ${bytes} bytes together, and at most ${maxBytes} are kept`;
    throw new TriviumError("resourceExhausted", message);
  }

  async #updateIndex(
    options: readonly string[],
    { paths, signal }: { paths: readonly string[]; signal: AbortSignal | undefined },
  ): Promise<void> {
    if (paths.length === 0) return;
    const args = ["update-index", "-z", ...options, "--stdin"];
    await this.#git({ args, input: joinNames(paths), workTree: this.#options.folder, signal });
  }

  /** Which paths the ignore rules of a snapshot hide. They are laid out in a folder of their own. */
  async #ignoredIn(
    snapshotId: string,
    { paths, signal }: { paths: readonly string[]; signal: AbortSignal | undefined },
  ): Promise<Set<string>> {
    const workTree = join(this.#options.path, "rules");
    await rm(workTree, { recursive: true, force: true });
    await mkdir(workTree);
    try {
      for (const path of (await this.filesOf(snapshotId, signal)).filter(isRules)) {
        const blob = await this.#git({ args: ["cat-file", "blob", `${snapshotId}:${path}`], signal });
        await mkdir(dirname(join(workTree, path)), { recursive: true });
        await writeFile(join(workTree, path), blob.stdout);
      }
      const { stdout } = await this.#git({
        args: ["check-ignore", "-z", "--no-index", "--stdin"],
        // A name that begins with a colon would be a pattern.
        input: joinNames(paths.map((path) => `./${path}`)),
        workTree,
        indexName: "none",
        answers: [0, 1],
        signal,
      });
      return new Set(splitNames(stdout).map((path) => path.slice(2)));
    } finally {
      await rm(workTree, { recursive: true, force: true });
    }
  }

  /** @param call `workTree`: folder with the files, where the command has to do with them */
  async #git({
    args,
    workTree,
    indexName = "index",
    isOutside = false,
    ...call
  }: OwnGitCall): Promise<GitAnswer> {
    const { run, path } = this.#options;
    try {
      return await runGit(run, {
        ...call,
        args,
        folder: workTree ?? path,
        settings: EXACT,
        environment: {
          GIT_CONFIG_NOSYSTEM: "1",
          GIT_CONFIG_GLOBAL: "/dev/null",
          GIT_ATTR_NOSYSTEM: "1",
          ...(!isOutside && { GIT_DIR: path, GIT_INDEX_FILE: join(path, indexName) }),
          ...(workTree !== undefined && { GIT_WORK_TREE: workTree }),
        },
      });
    } catch (cause) {
      // It may have been killed and have left a lock.
      this.#isReady = false;
      throw cause;
    }
  }
}

/** One run of git in the repository of the snapshots. */
interface OwnGitCall extends Pick<GitCall, "args" | "input" | "answers" | "signal"> {
  readonly workTree?: string;
  readonly indexName?: string;
  /** The repository is not there yet. */
  readonly isOutside?: boolean;
}

async function assertInPlace(folder: string): Promise<void> {
  const real = await realpath(folder).catch(() => undefined);
  if (real === folder) return;
  if (real === undefined) throw new TriviumError("notFound", "the folder of the session is gone");
  throw new TriviumError("failedPrecondition", "a link leads from the folder of the session to another");
}

function isExcluded(path: string): boolean {
  return path.split("/").some((name) => EXCLUDED.has(name));
}

function isRules(path: string): boolean {
  return path === ".gitignore" || path.endsWith("/.gitignore");
}

function lines(items: Iterable<string>): string {
  return [...items].map((item) => `${item}\n`).join("");
}
