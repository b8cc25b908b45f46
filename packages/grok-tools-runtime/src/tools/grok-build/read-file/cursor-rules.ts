import { readdir } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { openFile } from "../../../files/open-file.ts";
import { readableRoots } from "../../../files/session-roots.ts";
import { decodeFile } from "../../../files/text-encoding.ts";
import { isJsonObject } from "../../../json.ts";
import { matchesGlob, parseGlob } from "../../../search/glob.ts";
import type { ResourceDefinition } from "../../../session-resource.ts";
import { parseFrontmatter, splitFrontmatter } from "../../../skills/frontmatter.ts";
import type { ToolContext } from "../../../tool.ts";

const MAX_RULE_BYTES = 64 * 1024;
const MAX_RULES_PER_FOLDER = 100;
const MAX_DEPTH = 5;

/** Rules that the session has seen, by real path. */
export const shownCursorRules: ResourceDefinition<Set<string>> = {
  name: "editor rules",
  create: () => new Set(),
  state: {
    key: "cursor.RulesOnRead",
    load(shown, value) {
      const paths = isJsonObject(value) ? value["shown"] : undefined;
      if (!Array.isArray(paths) || !paths.every((path) => typeof path === "string")) return false;
      for (const path of paths) shown.add(path);
      return true;
    },
    save: (shown) => (shown.size === 0 ? undefined : { shown: [...shown] }),
  },
};

/**
 * The rules that apply to a file and were not shown yet: those in `.cursor/rules` of the session's folder and of each
 * folder down to the file, that always apply or have a glob that matches. They count as shown from now on.
 *
 * @returns a text to put behind what was read; empty when there are none
 */
export async function cursorRulesFor(path: string, context: ToolContext<unknown>): Promise<string> {
  const shown = context.resource(shownCursorRules);
  const texts: string[] = [];
  for (const folder of foldersDownTo(path, context.sessionDirectory)) {
    for (const rule of await rulesIn(join(folder, ".cursor", "rules"), MAX_DEPTH)) {
      if (shown.has(rule)) continue;
      const body = await bodyFor(relative(folder, path), rule, context);
      if (body === undefined) continue;
      shown.add(rule);
      texts.push(
        `\n\n<editor-rule path="${relative(context.sessionDirectory, rule)}">\n${body}\n</editor-rule>`,
      );
    }
  }
  return texts.join("");
}

/** The session's folder first; none for a file outside of it. */
function foldersDownTo(path: string, top: string): string[] {
  const below = relative(top, dirname(path));
  if (below === ".." || below.startsWith(`..${sep}`)) return [];
  const names = below === "" ? [] : below.split(sep);
  return [top, ...names.map((_, index) => join(top, ...names.slice(0, index + 1)))];
}

async function rulesIn(folder: string, depth: number): Promise<string[]> {
  // Most folders have no rules.
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  const rules: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isFile() && /\.mdc?$/.test(entry.name)) rules.push(path);
    else if (entry.isDirectory() && depth > 0) rules.push(...(await rulesIn(path, depth - 1)));
  }
  return rules.slice(0, MAX_RULES_PER_FOLDER);
}

/** Undefined: the rule does not apply, or cannot be read. */
async function bodyFor(
  file: string,
  rule: string,
  context: ToolContext<unknown>,
): Promise<string | undefined> {
  try {
    await using opened = await openFile(rule, readableRoots(context));
    if (opened.sizeBytes > MAX_RULE_BYTES) return undefined;
    const { frontmatter, body } = splitFrontmatter(decodeFile(await opened.handle.readFile()));
    const fields = frontmatter === undefined ? {} : parseFrontmatter(frontmatter);
    return applies(fields, file) && body.trim() !== "" ? body.trim() : undefined;
  } catch (error) {
    context.logger.debug({ error, rule }, "an editor rule cannot be read");
    return undefined;
  }
}

function applies(fields: Readonly<Record<string, unknown>>, file: string): boolean {
  if (fields["alwaysApply"] === true) return true;
  return globsOf(fields["globs"]).some((glob) =>
    // Without a folder it means names at any depth.
    matchesGlob(parseGlob(glob), glob.includes("/") ? file : basename(file)),
  );
}

/** A list, or one text with commas; commas in braces belong to the glob. */
function globsOf(value: unknown): string[] {
  const texts: unknown[] = Array.isArray(value) ? value : [value];
  return texts
    .filter((text) => typeof text === "string")
    .flatMap((text) => text.split(/,(?![^{]*\})/))
    .map((glob) => glob.trim())
    .filter((glob) => glob !== "");
}
