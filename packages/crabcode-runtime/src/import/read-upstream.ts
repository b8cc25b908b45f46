import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
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
  for (const row of (await readFile(path, "utf8")).split("\n")) {
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

/** What the index of upstream says of its sessions. It is read in a copy: opening it would write beside it. */
export async function readIndex(folder: string, logger: Logger): Promise<Map<string, UpstreamMeta>> {
  const rows = new Map<string, UpstreamMeta>();
  const copy = await mkdtemp(join(tmpdir(), "trivium-import-"));
  try {
    for (const name of ["sessions.db", "sessions.db-wal"]) {
      // Either may be missing.
      await cp(join(folder, name), join(copy, name)).catch(() => {});
    }
    const database = new DatabaseSync(join(copy, "sessions.db"));
    try {
      for (const row of database.prepare("SELECT * FROM session_meta").iterate()) {
        const meta = upstreamMeta.safeParse(row).data;
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
