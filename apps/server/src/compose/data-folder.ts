import { chmodSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { TriviumError } from "@trivium/core";
import { makeFolderSync } from "@trivium/core/node";

/** The data folder of a running server, held so that no second server writes it. */
export interface DataFolder extends Disposable {
  readonly path: string;
}

/**
 * Makes the data folder (only its owner may look inside) and takes it.
 *
 * The lock is one of the operating system's on a small database file, so it ends with the process, however that ends.
 *
 * @throws {@link TriviumError} `failedPrecondition` when another server has it, or when it cannot be written.
 */
export function openDataFolder(path: string): DataFolder {
  try {
    makeFolderSync(path, 0o700);
    chmodSync(path, 0o700);
  } catch (cause) {
    throw new TriviumError(
      "failedPrecondition",
      `the data folder ${path} cannot be made; set dataDir to a writable place`,
      { cause },
    );
  }
  const lock = new DatabaseSync(join(path, "server.lock"), { timeout: 0 });
  try {
    lock.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  } catch (cause) {
    lock.close();
    throw new TriviumError(
      "failedPrecondition",
      `another server uses the data folder ${path}; stop it, or give this one another dataDir`,
      { cause },
    );
  }
  return { path, [Symbol.dispose]: () => lock.close() };
}
