import type { ToolInfo } from "@trivium/proto/grok-tools";

/** What a user interface shows of a call, the same for every tool of a kind. */
export interface ToolMeta {
  readonly version: 1;
  readonly name: string;
  readonly kind: string;
  readonly namespace: string;
  readonly label: string;
  readonly read_only: boolean;
  /** The telling parameters under names that do not depend on the tool. Absent for kinds that have none. */
  readonly input?: Readonly<Record<string, string | number>>;
}

const namespaces: Readonly<Record<string, string>> = {
  GrokBuild: "grok_build",
  GrokBuildConcise: "grok_build_concise",
  GrokBuildHashline: "grok_build_hashline",
  Codex: "codex",
  OpenCode: "opencode",
  MCP: "mcp",
};

/**
 * The display envelope of a call: `{ "x.ai/tool": … }`.
 *
 * `input` has canonical parameter names.
 */
export function toolMeta(tool: ToolInfo, input: unknown): { readonly "x.ai/tool": ToolMeta } {
  const kind = kindOf(tool);
  const projected = projectInput(kind, typeof input === "object" && input !== null ? input : {});
  return {
    "x.ai/tool": {
      version: 1,
      name: tool.name,
      kind,
      namespace: namespaces[tool.namespace] ?? tool.namespace,
      label: tool.displayName,
      read_only: tool.capabilities?.isReadOnly ?? false,
      ...(projected !== undefined && { input: projected }),
    },
  };
}

function kindOf({ capabilities }: ToolInfo): string {
  const entry = capabilities?.customCapabilities.find((capability) => capability.startsWith("kind:"));
  return entry?.slice("kind:".length) ?? "other";
}

type Projection = Readonly<Record<string, readonly string[]>>;

const file = ["target_file", "file_path", "filePath", "path"];
const projections: Readonly<Record<string, Projection>> = {
  read: { path: file, offset: ["offset"], limit: ["limit"] },
  execute: { command: ["command"], description: ["description"] },
  edit: { path: file },
  write: { path: file },
  list: { directory: ["target_directory", "dir_path", "path"] },
  list_dir: { directory: ["target_directory", "dir_path", "path"] },
  search: { pattern: ["pattern"], path: ["path"] },
};

function projectInput(kind: string, input: object): Record<string, string | number> | undefined {
  const projection = projections[kind];
  if (projection === undefined) return undefined;
  const entries = Object.entries(projection).flatMap(([name, sources]) => {
    const value: unknown = sources
      .map((source): unknown => Reflect.get(input, source))
      .find((found) => found != null);
    if (typeof value !== "string" && typeof value !== "number") return [];
    if (name !== "offset") return [[name, value] as const];
    // Lines count from 1; from the end they cannot be shown without the file.
    return Number(value) < 0 ? [] : [[name, Math.max(1, Number(value))] as const];
  });
  return Object.fromEntries(entries);
}
