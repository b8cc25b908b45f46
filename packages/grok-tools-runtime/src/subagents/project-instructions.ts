import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { upwards } from "./definitions/load-definitions.ts";
import { readBoundedFile } from "./read-bounded-file.ts";
import { repositoryRoot } from "./repository-root.ts";

const MAX_FILE_BYTES = 64 * 1024;
const MAX_TOTAL_CHARACTERS = 256 * 1024;

const FILES = [
  "Agents.md",
  "AGENTS.md",
  "AGENT.md",
  "Claude.md",
  "CLAUDE.md",
  "CLAUDE.local.md",
  ".claude/Claude.md",
  ".claude/CLAUDE.md",
];
const FOLDERS = [".grok/rules", ".claude/rules", ".cursor/rules"];

/**
 * The instructions a project has for agents that work in a folder, from the top of its repository down, as one block for
 * the first message. Undefined when there are none.
 */
export async function projectInstructions(directory: string): Promise<string | undefined> {
  const root = (await repositoryRoot(directory)) ?? directory;
  const seen = new Set<string>();
  const sections: string[] = [];
  let characters = 0;
  for (const folder of [...upwards(directory, root)].reverse()) {
    for (const path of await instructionFiles(folder)) {
      // Names that differ in case only are one file on some systems, and links are common here.
      const real = await realpath(path).catch(() => undefined);
      if (real === undefined || seen.has(real)) continue;
      seen.add(real);
      const text = (await readBoundedFile(real, MAX_FILE_BYTES))?.trim() ?? "";
      if (text === "" || characters + text.length > MAX_TOTAL_CHARACTERS) continue;
      characters += text.length;
      sections.push(`Instructions from ${path}:\n\n${escaped(text)}`);
    }
  }
  if (sections.length === 0) return undefined;
  return `<system-reminder>\n${sections.join("\n\n")}\n</system-reminder>`;
}

async function instructionFiles(folder: string): Promise<string[]> {
  const rules = await Promise.all(
    FOLDERS.map(async (name) => {
      const entries = await readdir(join(folder, name)).catch(() => []);
      return entries
        .filter((entry) => entry.endsWith(".md"))
        .sort()
        .map((entry) => join(folder, name, entry));
    }),
  );
  return [...FILES.map((name) => join(folder, name)), ...rules.flat()];
}

/** A file must not end the block it is quoted in. */
function escaped(text: string): string {
  return text.replaceAll("</system-reminder>", "<\\/system-reminder>");
}
