import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const NAMES = ["CLAUDE.md", join(".claude", "CLAUDE.md"), "AGENTS.md"];
const MAX_CHARS = 64 * 1024;

/**
 * What is put before the history of every request: the date, and the notes for agents that lie between the root
 * of the repository and `cwd`.
 *
 * @param userFolder the user's own notes come from here
 */
export function userContext(cwd: string, nowMs: number, userFolder: string | undefined): string {
  const date = new Date(nowMs).toISOString().slice(0, 10);
  const user = userFolder === undefined ? [] : [readNote(join(userFolder, "CLAUDE.md"))];
  const project = foldersDownTo(cwd).flatMap((folder) => NAMES.map((name) => readNote(join(folder, name))));
  const notes = [...user, ...project].filter((note) => note !== "").join("\n---\n");
  const blocks = [`# currentDate\n${date}`];
  if (notes !== "") blocks.push(`# claudeMd\n${notes.slice(0, MAX_CHARS).toWellFormed()}`);
  return `<system-reminder>\n${blocks.join("\n")}\n</system-reminder>`;
}

/** From the folder that holds `.git` down to `cwd`; `cwd` alone without one. */
function foldersDownTo(cwd: string): string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.unshift(folder);
    if (readNote(join(folder, ".git", "HEAD")) !== "" || readNote(join(folder, ".git")) !== "")
      return folders;
    if (dirname(folder) === folder) return [cwd];
  }
}

function readNote(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    // Most of these files do not exist; one that cannot be read is no reason to fail a turn.
    return "";
  }
}
