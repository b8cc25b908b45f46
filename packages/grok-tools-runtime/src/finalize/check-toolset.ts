import { isDeepStrictEqual } from "node:util";
import type { ResolvedEntry } from "./tool-config.ts";
import { createToolsetView, type ProposedTool } from "./toolset-view.ts";
import type { Violation } from "./violation.ts";

/** The phases that look at all entries together; each list is complete for its phase. */
export function* checkWholeToolset(entries: readonly ResolvedEntry[]): Generator<readonly Violation[]> {
  yield [...duplicateIds(entries), ...duplicateNames(entries), ...conflictingParams(entries)];
  yield fileToolsetConflict(entries);
  yield missingRequirements(entries);
}

/** The entries as requirements and descriptions see them. */
export function toProposedTools(entries: readonly ResolvedEntry[]): ProposedTool[] {
  return entries.map(({ registered: { tool, inputProperties }, effectiveParams }) => ({
    tool,
    inputProperties,
    params: tool.params === undefined ? undefined : tool.params.schema.parse(effectiveParams),
  }));
}

function duplicateIds(entries: readonly ResolvedEntry[]): Violation[] {
  return repeated(entries, ({ registered }) => registered.tool.id).map(({ index, entry }) => ({
    entryIndex: index,
    toolId: entry.id,
    fieldPath: "id",
    message: `${entry.id} is configured twice`,
    badValueJson: JSON.stringify(entry.id),
    category: "duplicate_tool_id",
  }));
}

function duplicateNames(entries: readonly ResolvedEntry[]): Violation[] {
  const once = entries.filter(
    (entry) => !repeated(entries, ({ registered }) => registered.tool.id).includes(entry),
  );
  return repeated(once, ({ clientName }) => clientName).map(({ index, entry, clientName }) => ({
    entryIndex: index,
    toolId: entry.id,
    fieldPath: "name_override",
    message: `two tools would be named ${clientName}`,
    expected: "a name_override that no other entry has",
    badValueJson: JSON.stringify(clientName),
    category: "duplicate_client_name",
  }));
}

/** All entries but the first of each key. */
function repeated(
  entries: readonly ResolvedEntry[],
  keyOf: (entry: ResolvedEntry) => string,
): readonly ResolvedEntry[] {
  const seen = new Set<string>();
  return entries.filter((entry) => {
    const key = keyOf(entry);
    const isRepeated = seen.has(key);
    seen.add(key);
    return isRepeated;
  });
}

/** Tools with one state key share one set of params, so what two entries say must agree. */
function conflictingParams(entries: readonly ResolvedEntry[]): Violation[] {
  const first = new Map<string, ResolvedEntry>();
  const violations: Violation[] = [];
  for (const current of entries) {
    const stateKey = current.registered.tool.params?.stateKey;
    if (stateKey === undefined || current.entry.paramsJson === undefined) continue;
    const other = first.get(stateKey);
    if (other === undefined) first.set(stateKey, current);
    else if (!isDeepStrictEqual(other.explicitParams, current.explicitParams)) {
      violations.push({
        entryIndex: current.index,
        toolId: current.entry.id,
        fieldPath: "params_json",
        message: `${current.entry.id} and ${other.entry.id} share their params, and these differ`,
        expected: `the params of ${other.entry.id}, or none`,
        category: "params_conflict",
      });
    }
  }
  return violations;
}

const standardFileTools = ["GrokBuild:read_file", "GrokBuild:search_replace", "GrokBuild:grep"];
const hashlineFileTools = [
  "GrokBuildHashline:hashline_read",
  "GrokBuildHashline:hashline_edit",
  "GrokBuildHashline:hashline_grep",
];

function fileToolsetConflict(entries: readonly ResolvedEntry[]): Violation[] {
  const has = (ids: readonly string[]): boolean =>
    entries.some(({ registered }) => ids.includes(registered.tool.id));
  if (!has(standardFileTools) || !has(hashlineFileTools)) return [];
  return [
    {
      toolId: "(file-toolset)",
      fieldPath: "tools",
      message: "the standard and the hashline file tools exclude each other",
      expected: `tools of one of the two: ${standardFileTools.join(", ")}; ${hashlineFileTools.join(", ")}`,
      category: "file_toolset_conflict",
    },
  ];
}

function missingRequirements(entries: readonly ResolvedEntry[]): Violation[] {
  const proposed = toProposedTools(entries);
  const toolset = createToolsetView(proposed);
  return entries.flatMap(({ index, entry, registered }, position): Violation[] => {
    const failure = registered.tool.requires({ params: proposed[position]?.params, toolset });
    if (failure === undefined) return [];
    return [{ entryIndex: index, toolId: entry.id, category: "requirements", ...failure }];
  });
}
