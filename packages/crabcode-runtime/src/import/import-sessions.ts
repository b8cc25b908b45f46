import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { type IdSource, type Logger, randomIds, silentLogger, TriviumError } from "@trivium/core";
import { openDataFolder } from "../store/data-folder.ts";
import { SessionIndex } from "../store/session-index.ts";
import { findTranscripts, readIndex } from "./read-upstream.ts";
import { type ImportedSession, SessionImporter } from "./session-importer.ts";

/** What an import works with. */
export interface ImportOptions {
  /** Folder of upstream (`~/.crabcode`), or one with transcripts in it. Nothing is written there. */
  readonly folder: string;
  /** As for {@link createCrabcodeRuntime}; no runtime may have it open. */
  readonly dataDir: string;
  /** Sessions of other folders are left out. */
  readonly workspaceRoots: readonly string[];
  readonly logger?: Logger;
  readonly ids?: IdSource;
  /** Called after each session. */
  readonly onProgress?: (session: ImportedSession) => void;
}

/**
 * Takes over sessions of upstream: copies of their transcripts, with their agents, titles and times. One that is there
 * already stays as it is.
 *
 * @throws TriviumError `failedPrecondition` when a server has the data folder, `notFound` for a folder that cannot be
 * read, `invalidInput` when a workspace root is no folder
 */
export async function importSessions(options: ImportOptions): Promise<ImportedSession[]> {
  const { folder, dataDir, workspaceRoots, logger = silentLogger, ids = randomIds, onProgress } = options;
  const files = await findTranscripts(folder).catch((cause: unknown) => {
    throw new TriviumError("notFound", `${folder} is no folder that can be read`, { cause });
  });
  const metadata = await readIndex(folder, logger);
  const roots = await Promise.all(workspaceRoots.map(realRoot));
  const own = join(dataDir, "crabcode");
  const database = openDataFolder(own, logger);
  try {
    const importer = new SessionImporter({
      database,
      index: new SessionIndex(database),
      transcripts: join(own, "transcripts"),
      roots,
      ids,
    });
    const sessions: ImportedSession[] = [];
    for (const file of files) {
      const session = await importer.import(file, metadata.get(file.sessionId) ?? {});
      sessions.push(session);
      onProgress?.(session);
    }
    return sessions;
  } finally {
    database.close();
  }
}

async function realRoot(root: string): Promise<string> {
  try {
    return await realpath(root);
  } catch (cause) {
    throw new TriviumError("invalidInput", `workspace root ${root} is not an existing folder`, { cause });
  }
}
