import { constants } from "node:fs";
import { access, type FileHandle, open } from "node:fs/promises";
import { makeFolder } from "@trivium/core/node";
import { assertHandleInsideRoots, assertPathInsideRoots, type Roots } from "./path-jail.ts";

/** How a folder is opened. */
export interface OpenFolderOptions {
  readonly roots: Roots;
  /** Make it, with the folders above it. */
  readonly create?: boolean | undefined;
  /** Refuse a link in its place (ELOOP or ENOTDIR). */
  readonly refusesLink?: boolean | undefined;
}

/** An open folder in which files are made, renamed or listed. Dispose it after use. */
export class OpenFolder implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #base: string;

  private constructor(handle: FileHandle, base: string) {
    this.#handle = handle;
    this.#base = base;
  }

  /**
   * Opens a folder and checks where it really is.
   *
   * @throws {@link TriviumError} `permissionDenied` outside the roots, or the file system's error.
   */
  static async open(path: string, options: OpenFolderOptions): Promise<OpenFolder> {
    const { roots, create = false, refusesLink = false } = options;
    if (create) {
      await assertPathInsideRoots(path, roots);
      await makeFolder(path);
    }
    const noFollow = refusesLink ? (constants.O_NOFOLLOW ?? 0) : 0;
    const handle = await open(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | noFollow);
    try {
      await assertHandleInsideRoots(handle, path, roots);
      return new OpenFolder(handle, await baseOf(handle, path));
    } catch (cause) {
      await handle.close();
      throw cause;
    }
  }

  /** Path of this very folder, even when its own path changes meanwhile. */
  get path(): string {
    return this.#base;
  }

  /** Path of an entry that stays in this very folder, even when the folder's own path changes meanwhile. */
  entry(name: string): string {
    return `${this.#base}/${name}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

/** Linux resolves names below `/proc/self/fd/N` in the open folder itself. */
async function baseOf(handle: FileHandle, path: string): Promise<string> {
  const viaHandle = `/proc/self/fd/${handle.fd}`;
  hasDescriptorPaths ??= access(viaHandle).then(
    () => true,
    () => false,
  );
  return (await hasDescriptorPaths) ? viaHandle : path;
}

/** Whether this system has them; asked once. */
let hasDescriptorPaths: Promise<boolean> | undefined;
