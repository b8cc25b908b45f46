import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { openFile } from "../files/open-file.ts";
import type { ResourceDefinition, SessionScope } from "../session-resource.ts";
import { worktreeFolder } from "../subagents/worktree.ts";
import { type IndexedText, indexText, rank } from "./bm25.ts";
import { type Chunk, chunkMarkdown } from "./chunk-markdown.ts";
import { type MemoryRoot, type MemorySource, memoryRoots } from "./memory-roots.ts";

/** A found piece of a document. */
export interface MemoryHit {
  readonly path: string;
  readonly source: MemorySource;
  readonly chunk: Chunk;
  /** 0 to 1. */
  readonly score: number;
  /** Time since the document was written. */
  readonly ageDays: number;
}

type Place = { readonly path: string; readonly root: MemoryRoot; readonly chunk: Chunk };
type Document = {
  readonly stamp: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly texts: readonly IndexedText<Place>[];
};

/** Documents that are looked at; a memory is notes, not an archive. */
const MAX_DOCUMENTS = 2_000;
/** Bytes of all of them; they are kept in memory. */
const MAX_TOTAL_BYTES = 32 * 1024 * 1024;
/** Larger documents are left out. */
export const MAX_DOCUMENT_BYTES: number = 1024 * 1024;
const MAX_DEPTH = 8;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Notes of a session lose half their score in this time. */
const HALF_LIFE_DAYS = 30;

/** The Markdown documents of a session's memory, read anew when they change. */
export class MemoryIndex {
  readonly #scope: SessionScope;
  #documents = new Map<string, Document>();
  #refreshing: Promise<unknown> = Promise.resolve();

  constructor(scope: SessionScope) {
    this.#scope = scope;
  }

  /** What has words of the query, best first. */
  async search(query: string, signal: AbortSignal): Promise<MemoryHit[]> {
    const documents = await this.#refresh(signal);
    const nowMs = this.#scope.clock.now();
    const texts = [...documents.values()].flatMap((document) => document.texts);
    return rank(texts, query)
      .map(({ item: { path, root, chunk }, score }) => {
        const ageDays = Math.max(0, nowMs - (documents.get(path)?.modifiedMs ?? nowMs)) / DAY_MS;
        const decay = root.source === "session" ? 0.5 ** (ageDays / HALF_LIFE_DAYS) : 1;
        return { path, source: root.source, chunk, score: score * decay, ageDays };
      })
      .sort((one, other) => other.score - one.score);
  }

  /** One refresh at a time: two searches at once would read everything twice. */
  #refresh(signal: AbortSignal): Promise<ReadonlyMap<string, Document>> {
    const refreshed = this.#refreshing.then(() => this.#read(signal));
    this.#refreshing = refreshed.catch(() => {});
    return refreshed;
  }

  async #read(signal: AbortSignal): Promise<ReadonlyMap<string, Document>> {
    const documents = new Map<string, Document>();
    let totalBytes = 0;
    for (const root of await memoryRoots(this.#scope)) {
      for (const path of await documentsBelow(root.path, {
        signal,
        leftOut: worktreeFolder(this.#scope.sessionFolder),
      })) {
        if (documents.size >= MAX_DOCUMENTS || totalBytes >= MAX_TOTAL_BYTES) break;
        signal.throwIfAborted();
        const document = await readDocument(path, root, this.#documents.get(path)).catch(() => {
          // Gone again, or a link to somewhere else: it is no part of the memory.
          return undefined;
        });
        // A root inside another one: the first has the document.
        if (document === undefined || documents.has(path)) continue;
        documents.set(path, document);
        totalBytes += document.sizeBytes;
      }
    }
    this.#documents = documents;
    return documents;
  }
}

async function readDocument(
  path: string,
  root: MemoryRoot,
  known: Document | undefined,
): Promise<Document | undefined> {
  await using file = await openFile(path, [root.realPath]);
  const { stats, handle, sizeBytes } = file;
  if (sizeBytes > MAX_DOCUMENT_BYTES) return undefined;
  const stamp = `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
  if (known?.stamp === stamp) return known;
  const text = await handle.readFile("utf8");
  const texts = chunkMarkdown(text).map((chunk) => indexText({ path, root, chunk }, chunk.text));
  return { stamp, sizeBytes, modifiedMs: stats.mtimeMs, texts };
}

/**
 * Markdown files below a folder in the order of their names. Folders behind links are not entered, nor the one that is
 * to be left out.
 */
async function documentsBelow(
  folder: string,
  { signal, leftOut, depth = 0 }: { signal: AbortSignal; leftOut: string; depth?: number },
): Promise<string[]> {
  signal.throwIfAborted();
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => {
    // Not readable: nothing to find there.
    return [];
  });
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  const paths: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (path === leftOut) continue;
    if (entry.isDirectory() && depth < MAX_DEPTH) {
      paths.push(...(await documentsBelow(path, { signal, leftOut, depth: depth + 1 })));
    } else if (/\.(md|markdown)$/i.test(entry.name)) paths.push(path);
    if (paths.length >= MAX_DOCUMENTS) break;
  }
  return paths;
}

/** The memory of a session. */
export const memoryIndex: ResourceDefinition<MemoryIndex> = {
  name: "memory",
  create: (scope) => new MemoryIndex(scope),
};
