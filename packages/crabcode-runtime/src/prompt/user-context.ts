import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInside } from "../paths/is-inside.ts";
import { readRegularFile } from "../text/read-regular-file.ts";

const NAMES = ["CLAUDE.md", join(".claude", "CLAUDE.md"), "AGENTS.md"];
const MAX_CHARS = 64 * 1024;

/**
 * What is put before the history of every request: the date, and the notes for agents that lie between the root
 * of the repository and `cwd`. A note that is a link out of the repository is left out: nobody was asked whether
 * a model may see what it leads to.
 *
 * @param userFolder the user's own notes come from here
 */
export function userContext(cwd: string, nowMs: number, userFolder: string | undefined): string {
  const date = new Date(nowMs).toISOString().slice(0, 10);
  const user = userFolder === undefined ? [] : [readNote(join(userFolder, "CLAUDE.md"), "/")];
  const folders = foldersDownTo(cwd);
  const root = folders[0] ?? cwd;
  const project = folders.flatMap((folder) => NAMES.map((name) => readNote(join(folder, name), root)));
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
    if (existsSync(join(folder, ".git"))) return folders;
    if (dirname(folder) === folder) return [cwd];
  }
}

function readNote(path: string, root: string): string {
  try {
    const real = realpathSync(path);
    if (!isInside(root, real)) return "";
    return (readRegularFile(real, MAX_CHARS * 4) ?? "").trim();
  } catch {
    // Most of these files do not exist; one that cannot be read is no reason to fail a turn.
    return "";
  }
}
