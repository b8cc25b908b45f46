import { realpath } from "node:fs/promises";
import type { Roots } from "../files/path-jail.ts";
import { instructionFiles } from "../instructions/instruction-files.ts";
import { upwards } from "./definitions/load-definitions.ts";
import { readBoundedFile } from "./read-bounded-file.ts";
import { repositoryRoot } from "./repository-root.ts";

const MAX_FILE_BYTES = 64 * 1024;
const MAX_TOTAL_CHARACTERS = 256 * 1024;

/**
 * The instructions a project has for agents that work in a folder, from the top of its repository down, as one block for
 * the first message. Files outside the roots are left out. Undefined when there are none.
 */
export async function projectInstructions(directory: string, roots: Roots): Promise<string | undefined> {
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
      const text = (await readBoundedFile(real, { maxBytes: MAX_FILE_BYTES, roots }))?.trim() ?? "";
      if (text === "" || characters + text.length > MAX_TOTAL_CHARACTERS) continue;
      characters += text.length;
      sections.push(`Instructions from ${path}:\n\n${escaped(text)}`);
    }
  }
  if (sections.length === 0) return undefined;
  return `<system-reminder>\n${sections.join("\n\n")}\n</system-reminder>`;
}

/** A file must not end the block it is quoted in. */
function escaped(text: string): string {
  return text.replaceAll("</system-reminder>", "<\\/system-reminder>");
}
