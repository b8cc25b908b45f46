import { constants, copyFile, mkdtemp, open, readdir, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Logger } from "@trivium/core";
import type { TranscriptRecord } from "../store/transcript.ts";
import { parseUpstreamLine, type UpstreamMeta, upstreamMeta } from "./upstream-line.ts";

/** A transcript that was found. */
export interface UpstreamFile {
  readonly sessionId: string;
  readonly path: string;
}

/** What a transcript holds. */
export interface UpstreamTranscript {
  /** The last line of its kind. */
  readonly meta: UpstreamMeta;
  readonly records: readonly TranscriptRecord[];
}

/** The transcripts of sessions below a folder of upstream (`~/.crabcode`), or in one folder of a project. */
export async function findTranscripts(folder: string): Promise<UpstreamFile[]> {
  const projects = join(folder, "projects");
  const names = await readdir(projects).catch(() => undefined);
  const folders = names === undefined ? [folder] : names.sort().map((name) => join(projects, name));
  const files: UpstreamFile[] = [];
  for (const project of folders) {
    // What is no folder has no transcripts in it.
    const entries = names === undefined ? await readdir(project) : await readdir(project).catch(() => []);
    for (const name of entries.sort()) {
      if (name.endsWith(".jsonl"))
        files.push({ sessionId: basename(name, ".jsonl"), path: join(project, name) });
    }
  }
  return files;
}

/** Reads a transcript; blank and broken lines, repeated messages and lines of other kinds are left out. */
export async function readTranscript(path: string): Promise<UpstreamTranscript> {
  const records: TranscriptRecord[] = [];
  const uuids = new Set<string>();
  let meta: UpstreamMeta = {};
  for (const row of (await readOwnFile(path)).split("\n")) {
    const line = row.trim() === "" ? undefined : parseUpstreamLine(row);
    if (line === undefined) continue;
    if (!("kind" in line)) meta = line;
    else if (line.kind === "mark") records.push(line);
    else if (!uuids.has(line.entry.uuid) && line.entry.message.content.length > 0) {
      uuids.add(line.entry.uuid);
      records.push(line);
    }
  }
  return { meta, records };
}

/**
 * The text of a file that is one itself.
 *
 * @throws Error for a link, which may lead anywhere, a folder, or a pipe, which may have no end
 */
export async function readOwnFile(path: string): Promise<string> {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  const problem = "it is no file of its own but a link, a folder or a pipe";
  await using file = await open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW).catch((cause: unknown) => {
    const isLink = cause instanceof Error && "code" in cause && cause.code === "ELOOP";
    throw isLink ? new Error(problem, { cause }) : cause;
  });
  if (!(await file.stat()).isFile()) throw new Error(problem);
  return await file.readFile("utf8");
}

/** What the index of upstream says of its sessions. It is read in a copy: opening it would write beside it. */
export async function readIndex(folder: string, logger: Logger): Promise<Map<string, UpstreamMeta>> {
  const rows = new Map<string, UpstreamMeta>();
  const copy = await mkdtemp(join(tmpdir(), "trivium-import-"));
  try {
    // Behind a link the second file lies beside the first.
    const original = await realpath(join(folder, "sessions.db"));
    for (const suffix of ["", "-wal"]) {
      const isFile = await stat(original + suffix).then(
        (stats) => stats.isFile(),
        () => false,
      );
      if (isFile) await copyFile(original + suffix, join(copy, `sessions.db${suffix}`));
    }
    const database = new DatabaseSync(join(copy, "sessions.db"));
    try {
      const statement = database.prepare("SELECT * FROM session_meta");
      // A number may be larger than is safe, which would end the reading.
      statement.setReadBigInts(true);
      for (const row of statement.iterate()) {
        const columns = Object.entries(row).map(([name, value]) => [
          name,
          typeof value === "bigint" ? Number(value) : value,
        ]);
        const meta = upstreamMeta.safeParse(Object.fromEntries(columns)).data;
        if (meta !== undefined) rows.set(String(row["id"]), meta);
      }
    } finally {
      database.close();
    }
  } catch (cause) {
    logger.debug({ folder, cause }, "there is no index beside the transcripts");
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
  return rows;
}
