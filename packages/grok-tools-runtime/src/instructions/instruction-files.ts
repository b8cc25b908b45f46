import { readdir } from "node:fs/promises";
import { join } from "node:path";

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

/** Where a folder may have instructions for agents. The single files need not exist. */
export async function instructionFiles(folder: string): Promise<string[]> {
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
