import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInside } from "../paths/is-inside.ts";
import { readFileBeginning } from "../text/read-regular-file.ts";
import { type MemoryScope, memoryFile, readMemories } from "./memories.ts";
import { repositoryRoot } from "./repository-root.ts";

const NAMES = ["CLAUDE.md", join(".claude", "CLAUDE.md"), "AGENTS.md"];
const MAX_CHARS = 64 * 1024;
const MAX_MEMORY_CHARS = 16 * 1024;

/** What the context of a request depends on. */
export interface UserContextOptions {
  /** Absolute, symbolic links resolved. */
  readonly cwd: string;
  readonly nowMs: number;
  /** The user's own notes and memories come from here. */
  readonly userFolder: string | undefined;
  /** Home of the user, for `.claude/CLAUDE.md`. */
  readonly homeFolder: string | undefined;
}

/**
 * What is put before the history of every request: the date, the notes for agents that lie between the root of the
 * repository and `cwd`, and what was remembered. A note that is a link out of the repository is left out: nobody was asked
 * whether a model may see what it leads to.
 */
export function userContext({ cwd, nowMs, userFolder, homeFolder }: UserContextOptions): string {
  const blocks = [`# currentDate\n${new Date(nowMs).toISOString().slice(0, 10)}`];
  const user = [
    ...(homeFolder === undefined ? [] : [readNote(join(homeFolder, ".claude", "CLAUDE.md"), "/")]),
    ...(userFolder === undefined ? [] : [readNote(join(userFolder, "CLAUDE.md"), "/")]),
  ];
  const folders = foldersDownTo(cwd);
  const root = folders[0] ?? cwd;
  const project = folders.flatMap((folder) => NAMES.map((name) => readNote(join(folder, name), root)));
  const notes = [...user, ...project].filter((note) => note !== "").join("\n---\n");
  if (notes !== "") blocks.push(`# claudeMd\n${cut(notes, MAX_CHARS)}`);
  const memories = [
    ...memoryLines("global", { cwd, userFolder }),
    ...memoryLines("project", { cwd, userFolder }),
  ];
  if (memories.length > 0) blocks.push(`# memories\n${cut(memories.join("\n"), MAX_MEMORY_CHARS)}`);
  return `<system-reminder>\n${blocks.join("\n")}\n</system-reminder>`;
}

/** From the folder that holds `.git` down to `cwd`; `cwd` alone without one. */
function foldersDownTo(cwd: string): string[] {
  const root = repositoryRoot(cwd) ?? cwd;
  const folders = [cwd];
  for (let folder = cwd; folder !== root; ) {
    folder = dirname(folder);
    folders.unshift(folder);
  }
  return folders;
}

function memoryLines(scope: MemoryScope, place: { cwd: string; userFolder: string | undefined }): string[] {
  const path = memoryFile(scope, place);
  if (path === undefined) return [];
  try {
    const { memories } = readMemories(path, scope === "project" ? place.cwd : undefined);
    return memories.map(({ title, content }) => `[${scope}] ${title}: ${content}`);
  } catch {
    // A file that cannot be used is no reason to fail a turn; the tool says what is wrong with it.
    return [];
  }
}

function readNote(path: string, root: string): string {
  try {
    const real = realpathSync(path);
    if (!isInside(root, real)) return "";
    return (readFileBeginning(real, MAX_CHARS * 4) ?? "").trim();
  } catch {
    // Most of these files do not exist; one that cannot be read is no reason to fail a turn.
    return "";
  }
}

function cut(text: string, maxChars: number): string {
  return text.slice(0, maxChars).toWellFormed();
}
