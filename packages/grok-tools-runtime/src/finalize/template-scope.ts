import type { TemplateScope } from "./template/expression.ts";
import type { ResolvedEntry, ToolConfigEntry } from "./tool-config.ts";

/** Facts about the host that descriptions may depend on. */
export interface HostFacts {
  readonly isWindows: boolean;
  readonly shellUsesSemicolon: boolean;
  readonly hasUnixUtilities: boolean;
}

/** A tool as templates see it. */
type NamedTool = Pick<ResolvedEntry, "registered" | "clientName"> & {
  readonly entry: Pick<ToolConfigEntry, "paramsNameOverrides">;
};

/** The variables of description templates: client names of tools and parameters by kind, and the host. */
export function templateScope(
  entries: readonly NamedTool[],
  { host, remindersEnabled }: { host: HostFacts; remindersEnabled: boolean },
): TemplateScope {
  const byKind: Record<string, string> = {};
  const params: Record<string, Record<string, string>> = {};
  for (const { registered, clientName } of entries) {
    const { kind } = registered.tool;
    byKind[kind] ??= clientName;
    const names = (params[kind] ??= {});
    for (const property of registered.inputProperties) names[property] ??= property;
  }
  for (const { registered, entry } of entries) {
    Object.assign((params[registered.tool.kind] ??= {}), entry.paramsNameOverrides);
  }
  return {
    tools: { by_kind: byKind },
    params,
    is_windows: host.isWindows,
    shell_uses_semicolon: host.shellUsesSemicolon,
    has_unix_utilities: host.hasUnixUtilities,
    system_reminders_enabled: remindersEnabled,
  };
}
