import { resolve } from "node:path";
import { type ImportedSession, importSessions } from "@trivium/crabcode-runtime";
import type { CliProcess } from "../cli.ts";
import { crabcodeHome } from "../compose/crabcode-home.ts";
import { openDataFolder } from "../compose/data-folder.ts";
import { ConfigError } from "../config/config-error.ts";
import type { Config } from "../config/read-config.ts";

/** What the command is called with. */
export interface ImportParameters {
  /** Default: where upstream keeps its sessions. */
  readonly folder: string | undefined;
  readonly isJson: boolean;
}

/**
 * `trivium import-sessions`: takes sessions of upstream over into the data folder, whose server is stopped. 0 when all of
 * them are there afterwards, 1 when one could not be taken over.
 */
export async function runImport(
  { values }: Config,
  { folder, isJson }: ImportParameters,
  io: CliProcess,
): Promise<number> {
  const source = folder === undefined ? crabcodeHome(io.env) : resolve(io.folder, folder);
  if (source === undefined) throw new ConfigError("there is no home folder: name the folder to import from");
  using data = openDataFolder(values.dataDir);
  const sessions = await importSessions({
    folder: source,
    dataDir: data.path,
    workspaceRoots: [values.workspace, ...(values["tools.workspaceRoots"] ?? [])],
    onProgress: (session) => {
      if (!isJson) io.stdout.write(`${session.sessionId}  ${describe(session)}\n`);
    },
  });
  if (isJson) io.stdout.write(`${JSON.stringify(sessions, undefined, 2)}\n`);
  else {
    const count = sessions.filter(({ outcome }) => outcome === "imported").length;
    io.stdout.write(`${count} of ${sessions.length} sessions imported from ${source}\n`);
  }
  return sessions.some(({ outcome }) => outcome === "refused") ? 1 : 0;
}

/** One line. */
function describe({ outcome, problem, title, messageCount }: ImportedSession): string {
  switch (outcome) {
    case "imported":
      return `${messageCount} messages  ${title.replaceAll(/[\s\p{Cc}]+/gu, " ")}`;
    case "present":
      return "is there already";
    case "refused":
      return `left out: ${problem}`;
  }
}
