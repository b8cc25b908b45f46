import { createHash } from "node:crypto";

/** What providers take as the name of a tool. */
const MAX_CHARS = 64;
const HASH_CHARS = 8;

/** The name a model knows a tool of a server by: `mcp__<server>__<tool>`. A long one ends in a part of its hash. */
export function mcpToolName(server: string, tool: string): string {
  const name = `${mcpToolPrefix(server)}${plain(tool)}`;
  if (name.length <= MAX_CHARS) return name;
  // Of the names as they are written: what differs in replaced characters only has another hash.
  const hash = createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex");
  return `${name.slice(0, MAX_CHARS - HASH_CHARS - 1)}_${hash.slice(0, HASH_CHARS)}`;
}

/** What the names of all tools of a server begin with, unless they are too long. */
export function mcpToolPrefix(server: string): string {
  return `mcp__${plain(server)}__`;
}

function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/gu, "_");
}
