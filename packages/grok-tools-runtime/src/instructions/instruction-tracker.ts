import { realpath, stat } from "node:fs/promises";
import { dirname, relative, sep } from "node:path";
import { ignoreFilter } from "../files/ignore/ignore-filter.ts";
import { isInsideRoots } from "../files/path-jail.ts";
import type { ResourceDefinition, SessionScope, TouchedFile } from "../session-resource.ts";
import { foldersAbove, gitRootOf } from "../skills/skill-roots.ts";
import { instructionFiles } from "./instruction-files.ts";

/** Folders above a file that are looked at. */
const MAX_LEVELS = 10;

/** What {@link InstructionTracker} needs of its session. */
export type InstructionScope = Pick<
  SessionScope,
  "sessionDirectory" | "workspaceRoots" | "logger" | "toolName" | "resource"
>;

/**
 * Finds files with instructions for agents in the folders a session works in. The session's own folder and those above
 * it are left out: their instructions are given at the beginning. Nothing outside the repository, and nothing without
 * one.
 */
export class InstructionTracker {
  readonly #scope: InstructionScope;
  readonly #visited = new Set<string>();
  /** Real paths that were found, told or not. */
  readonly #known = new Set<string>();
  #untold: string[] = [];
  #gitRoot: Promise<string | undefined> | undefined;
  /** Ends when everything that was touched so far was looked at. */
  #discovery: Promise<void> = Promise.resolve();

  constructor(scope: InstructionScope) {
    this.#scope = scope;
  }

  /** A tool has read, listed or written something. Does not wait. */
  touched({ access, path }: Pick<TouchedFile, "access" | "path">): void {
    if (access === "delete") return;
    this.#discovery = this.#discovery
      .then(() => this.#discover(path, access === "list"))
      .catch((error: unknown) =>
        this.#scope.logger.warn({ error, path }, "project instructions could not be looked for"),
      );
  }

  /** Names the files that were found since the last time, each once. */
  async takeReminder(): Promise<string | undefined> {
    await this.#discovery;
    const paths = this.#untold.splice(0);
    if (paths.length === 0) return undefined;
    const reader = this.#scope.toolName("read");
    const how = reader === undefined ? "Read them" : `Read them with ${reader}`;
    return [
      `This part of the project has instructions of its own. ${how} before you work on it:`,
      ...paths.map((path) => `- ${shown(path)}`),
    ].join("\n");
  }

  /** Ends what is being looked for. */
  async close(): Promise<void> {
    await this.#discovery;
  }

  async #discover(touchedPath: string, isFolder: boolean): Promise<void> {
    const { sessionDirectory: directory } = this.#scope;
    const gitRoot = await (this.#gitRoot ??= gitRootOf(directory));
    if (gitRoot === undefined) return;
    const path = await realpath(touchedPath).catch(() => touchedPath);
    const places = { directory, gitRoot, homeDirectory: undefined, serverFolders: [], includesCompat: true };
    const folders = foldersAbove(isFolder ? path : dirname(path), places).slice(0, MAX_LEVELS);
    for (const folder of folders.reverse()) {
      if (this.#visited.has(folder) || isAbove(folder, directory)) continue;
      this.#visited.add(folder);
      for (const file of await instructionFiles(folder)) await this.#add(file);
    }
  }

  async #add(path: string): Promise<void> {
    // Names that differ in case only are one file on some systems, and links are common here.
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined || this.#known.has(real)) return;
    if (!(await stat(real)).isFile() || !(await this.#isShown(real, path))) return;
    this.#known.add(real);
    this.#untold.push(path);
  }

  async #isShown(real: string, path: string): Promise<boolean> {
    if (!isInsideRoots(real, this.#scope.workspaceRoots)) return false;
    return !(await this.#scope.resource(ignoreFilter).isIgnored(path));
  }
}

/** The session's instructions that turn up as it works. */
export const instructionTracker: ResourceDefinition<InstructionTracker> = {
  name: "project instructions",
  create: (scope) => new InstructionTracker(scope),
  dispose: (tracker) => tracker.close(),
  fileTouched: (tracker, file) => tracker.touched(file),
  async reminders(tracker) {
    const text = await tracker.takeReminder();
    return text === undefined ? [] : [text];
  },
};

function isAbove(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest !== ".." && !rest.startsWith(`..${sep}`);
}

/** A name is somebody's text: it must neither begin a line nor end the reminder. */
function shown(path: string): string {
  return path.replaceAll(/\s/g, " ").replaceAll("</", "<\\/");
}
