import type { BehaviorVersion, Tool } from "../tool.ts";

/** The version every managed tool has when nothing else is asked for. */
export const CURRENT_VERSION = "current";

/** A named set of default versions for a whole toolset. */
export interface BehaviorPreset {
  readonly name: string;
  readonly lifecycle: BehaviorVersion["lifecycle"];
  /** Version a managed tool gets when it knows that version; others get `current`. */
  readonly version: string;
}

/** The presets of the contract. `release-0.1.157` is the behaviour that is current today. */
export const behaviorPresets: readonly BehaviorPreset[] = [
  { name: "current", lifecycle: "active", version: CURRENT_VERSION },
  { name: "legacy-0.4.10", lifecycle: "active", version: "legacy-0.4.10" },
  { name: "release-0.1.157", lifecycle: "active", version: CURRENT_VERSION },
];

/** A notice that something configured will go away. Contract: VersionWarning */
export interface VersionWarning {
  /** Empty for the preset as a whole. */
  readonly toolId: string;
  readonly deprecatedVersion: string;
  readonly replacement: string;
  readonly message: string;
}

/** The preset of a name; `reason` tells why there is none to use. */
export function findPreset(
  name: string | undefined,
  presets: readonly BehaviorPreset[],
): { preset: BehaviorPreset } | { reason: string } {
  const wanted = name === undefined || name === "" ? CURRENT_VERSION : name;
  const preset = presets.find((candidate) => candidate.name === wanted);
  const usable = presets.filter(({ lifecycle }) => lifecycle !== "removal-candidate").map((one) => one.name);
  if (preset === undefined) return { reason: `no preset named ${wanted}; there are: ${usable.join(", ")}` };
  if (preset.lifecycle === "removal-candidate") {
    return { reason: `the preset ${wanted} is about to be removed; use ${CURRENT_VERSION}` };
  }
  return { preset };
}

/** The version one tool gets: undefined for a tool without versions. */
export function resolveVersion(
  tool: Tool,
  preset: BehaviorPreset,
  override: string | undefined,
): { version: string | undefined } | { reason: string } {
  const { behaviorVersions } = tool;
  if (behaviorVersions.length === 0) {
    if (override === undefined) return { version: undefined };
    return { reason: `${tool.id} has no behaviour versions, leave behavior_version out` };
  }
  if (override === undefined) {
    const known = behaviorVersions.some(({ version }) => version === preset.version);
    return { version: known ? preset.version : CURRENT_VERSION };
  }
  const found = behaviorVersions.find(({ version }) => version === override);
  if (found === undefined) {
    const supported = behaviorVersions.map(({ version }) => version).join(", ");
    return { reason: `${tool.id} has no version ${JSON.stringify(override)}; there are: ${supported}` };
  }
  if (found.lifecycle === "removal-candidate") {
    return {
      reason: `the version ${override} of ${tool.id} is about to be removed; use ${found.replacement ?? CURRENT_VERSION}`,
    };
  }
  return { version: override };
}

/** Warnings for a toolset: at most one for the preset, and one for each tool with a deprecated version. */
export function versionWarnings(
  preset: BehaviorPreset,
  entries: readonly { readonly tool: Tool; readonly version: string | undefined }[],
): VersionWarning[] {
  const warnings: VersionWarning[] = [];
  if (preset.lifecycle === "deprecated") {
    warnings.push(warning("", preset.name, CURRENT_VERSION));
  }
  for (const { tool, version } of entries) {
    const found = tool.behaviorVersions.find((candidate) => candidate.version === version);
    if (found?.lifecycle !== "deprecated") continue;
    warnings.push(warning(tool.id, found.version, found.replacement ?? CURRENT_VERSION));
  }
  return warnings;
}

function warning(toolId: string, deprecatedVersion: string, replacement: string): VersionWarning {
  const subject = toolId === "" ? "the preset" : toolId;
  const message = `${subject}: ${deprecatedVersion} is deprecated, use ${replacement}`;
  return { toolId, deprecatedVersion, replacement, message };
}
