import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { TriviumError } from "@trivium/core";
import type { ResourceDefinition } from "../session-resource.ts";

/** Folders of the session's private folder in which tools keep what they got from elsewhere. */
export type ArtifactFolder = "web_fetch" | "downloads" | "images" | "videos";

const GiB = 1024 ** 3;

/** Bytes each folder may hold. */
const BUDGETS: Readonly<Record<ArtifactFolder, number>> = {
  web_fetch: GiB,
  downloads: GiB,
  images: GiB,
  videos: 2 * GiB,
};

/** A file that was kept. */
export interface Artifact {
  /** Absolute. */
  readonly path: string;
  /** `3.png` */
  readonly filename: string;
}

/**
 * Numbered files of a session: `images/1.jpg`, `images/2.png` and so on, across all tools that keep files there. A
 * file appears whole or not at all. The folders are looked through once; the session is their only writer.
 */
export class SessionArtifacts {
  readonly #folder: string;
  readonly #budgets: Readonly<Record<ArtifactFolder, number>>;
  readonly #counts = new Map<ArtifactFolder, Promise<Count>>();

  /** `folder`: the session's private folder. */
  constructor(folder: string, budgets: Partial<Record<ArtifactFolder, number>> = {}) {
    this.#folder = folder;
    this.#budgets = { ...BUDGETS, ...budgets };
  }

  /**
   * Keeps bytes under the next number of a folder.
   *
   * @throws {@link TriviumError} `failedPrecondition` when they do not fit into what the folder may hold, and system
   * errors of writing.
   */
  async save(folder: ArtifactFolder, extension: string, bytes: Uint8Array): Promise<Artifact> {
    const count = await this.#countOf(folder);
    const budget = this.#budgets[folder];
    if (count.usedBytes + bytes.length > budget) {
      throw new TriviumError(
        "failedPrecondition",
        `${bytes.length} bytes do not fit: ${folder} of this session holds ${count.usedBytes} of ${budget} bytes`,
      );
    }
    // Taken before anything is awaited, so that two calls cannot get one number or the last bytes.
    count.usedBytes += bytes.length;
    count.last += 1;
    const filename = `${count.last}.${extension}`;
    const path = join(this.#folder, folder, filename);
    try {
      await writeWhole(path, bytes);
    } catch (cause) {
      count.usedBytes -= bytes.length;
      throw cause;
    }
    return { path, filename };
  }

  /** The file with a number; undefined when there is none. */
  async find(folder: ArtifactFolder, number: number): Promise<string | undefined> {
    const names = await readdir(join(this.#folder, folder)).catch((): string[] => []);
    const name = names.find((candidate) => numberOf(candidate) === number);
    return name === undefined ? undefined : join(this.#folder, folder, name);
  }

  async #countOf(folder: ArtifactFolder): Promise<Count> {
    const known = this.#counts.get(folder);
    if (known !== undefined) return await known;
    const counted = countFiles(join(this.#folder, folder));
    this.#counts.set(folder, counted);
    // A folder that could not be read is looked at again by the next call.
    counted.catch(() => this.#counts.delete(folder));
    return await counted;
  }
}

/** The artefacts of a session. */
export const sessionArtifacts: ResourceDefinition<SessionArtifacts> = {
  name: "session-artifacts",
  create: ({ sessionFolder }) => new SessionArtifacts(sessionFolder),
};

interface Count {
  last: number;
  usedBytes: number;
}

async function countFiles(folder: string): Promise<Count> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const count: Count = { last: 0, usedBytes: 0 };
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    // What a server that died left half-written.
    if (name.endsWith(PARTIAL)) await rm(path, { force: true });
    else count.usedBytes += (await stat(path)).size;
    count.last = Math.max(count.last, numberOf(name) ?? 0);
  }
  return count;
}

const PARTIAL = ".partial";

function numberOf(name: string): number | undefined {
  const digits = /^(\d{1,15})\.[a-z0-9]+$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const partial = `${path}.${randomUUID()}${PARTIAL}`;
  try {
    await using file = await open(partial, "wx", 0o600);
    await file.writeFile(bytes);
    await file.sync();
    await rename(partial, path);
  } catch (cause) {
    await rm(partial, { force: true });
    throw cause;
  }
}
