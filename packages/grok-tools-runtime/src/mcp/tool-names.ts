import { createHash } from "node:crypto";
import type { McpTool } from "@trivium/mcp";

/** Between the name of the server and that of the tool. */
const SEPARATOR = "__";
const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/** The two parts of `server__tool`. */
export interface QualifiedName {
  readonly server: string;
  readonly tool: string;
}

/** Splits `server__tool`; undefined for a name that has not exactly these two parts or other characters. */
export function parseQualifiedName(name: string): QualifiedName | undefined {
  if (!/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(name)) return undefined;
  const [server = "", tool = "", ...rest] = name.split(SEPARATOR);
  return server === "" || tool === "" || rest.length > 0 ? undefined : { server, tool };
}

/**
 * The tools by the names a model calls them. A name that models cannot write is changed: other characters become `_`,
 * a long one ends with a hash, as does the second of two that became the same.
 */
export function byQualifiedName(tools: readonly McpTool[]): Map<string, McpTool> {
  const named = new Map<string, McpTool>();
  for (const tool of tools) {
    const prefix = plain(tool.server) + SEPARATOR;
    const name = prefix + plain(tool.name);
    const isUsable = name.length <= MAX_LENGTH && !named.has(name);
    named.set(isUsable ? name : hashed(prefix, tool), tool);
  }
  return named;
}

/** Only characters that may be in a name, and no separator. */
function plain(name: string): string {
  const safe = name
    .replace(/[^a-zA-Z0-9_-]/g, "_")
    .replace(/_{2,}/g, "_")
    .replace(/^_|_$/g, "");
  return safe === "" ? "tool" : safe;
}

function hashed(prefix: string, { name }: McpTool): string {
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_LENGTH);
  const room = MAX_LENGTH - prefix.length - HASH_LENGTH - 1;
  const beginning = plain(name).slice(0, Math.max(1, room)).replace(/_$/, "");
  return `${prefix}${beginning}-${hash}`;
}
