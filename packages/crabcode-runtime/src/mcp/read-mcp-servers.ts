import { join } from "node:path";
import type { Logger } from "@trivium/core";
import { z } from "zod";
import type { McpServerDefinition } from "../ports/mcp-port.ts";
import { readJsonObject } from "../settings/json-object-file.ts";
import { isLayer } from "../settings/merge-settings.ts";

const STARTUP_TIMEOUT_MS = 30_000;
const CALL_TIMEOUT_MS = 60_000;

/** A server of a session's configuration. */
export interface McpServerSettings {
  readonly definition: McpServerDefinition;
  /** What the server says of its tools is believed. */
  readonly isTrusted: boolean;
}

/** Where the servers of a session are written down. */
export interface McpServerSources {
  readonly cwd: string;
  /** Holds `mcp_servers.json` of the user. */
  readonly userFolder: string | undefined;
  /** Holds `.claude/mcp_servers.json` of the user. */
  readonly homeFolder: string | undefined;
  /** Files of `cwd` count. */
  readonly isTrustedFolder: boolean;
  /** `mcp_servers` of the settings; for names that no file has. */
  readonly settings: Readonly<Record<string, unknown>>;
}

const common = {
  disabled: z.boolean().default(false),
  trusted: z.boolean().default(false),
};
const texts = z.record(z.string(), z.string());

const program = z.object({
  ...common,
  command: z.union([
    z
      .string()
      .min(1)
      .transform((command) => [command]),
    z.array(z.string()).min(1),
  ]),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
});

const address = z.object({
  ...common,
  type: z.enum(["http", "streamable-http", "sse"]).default("http"),
  url: z.url({ protocol: /^https?$/ }),
  headers: texts.default({}),
});

/**
 * The MCP servers of a session by name: the user's files, then those of a trusted folder, later over earlier, then the
 * settings. What cannot be used is left out with a warning.
 */
export function readMcpServers(
  { cwd, userFolder, homeFolder, isTrustedFolder, settings }: McpServerSources,
  logger: Logger,
): Map<string, McpServerSettings> {
  const ofUser = [
    ...(userFolder === undefined ? [] : [join(userFolder, "mcp_servers.json")]),
    ...(homeFolder === undefined ? [] : [join(homeFolder, ".claude", "mcp_servers.json")]),
  ];
  const ofFolder = [
    join(cwd, ".crabcode", "mcp_servers.json"),
    join(cwd, ".claude", "mcp_servers.json"),
    join(cwd, ".crabcode", "mcp_servers.local.json"),
  ];
  const written = new Map<string, unknown>();
  for (const file of ofUser) addFile(written, readJsonObject(file, logger));
  for (const file of ofFolder) {
    const servers = readJsonObject(file, logger);
    if (isTrustedFolder) addFile(written, servers);
    else if (servers !== undefined) {
      logger.warn({ file }, "MCP servers of a folder that is not trusted are ignored");
    }
  }
  for (const [name, server] of Object.entries(settings)) if (!written.has(name)) written.set(name, server);
  const servers = new Map<string, McpServerSettings>();
  for (const [name, server] of written) {
    const parsed = parseServer(server);
    if (typeof parsed === "string") {
      logger.warn({ server: name, problem: parsed }, "an MCP server of the settings cannot be used");
    } else if (parsed !== undefined) servers.set(name, parsed);
  }
  return servers;
}

function addFile(written: Map<string, unknown>, file: Readonly<Record<string, unknown>> | undefined): void {
  const inner = file?.["mcpServers"];
  for (const [name, server] of Object.entries(isLayer(inner) ? inner : (file ?? {})))
    written.set(name, server);
}

/** A server, what is wrong with it, or undefined for one that is switched off. */
function parseServer(written: unknown): McpServerSettings | string | undefined {
  const times = { startupTimeoutMs: STARTUP_TIMEOUT_MS, callTimeoutMs: CALL_TIMEOUT_MS };
  if (isLayer(written) && written["disabled"] === true) return undefined;
  if (isLayer(written) && written["command"] !== undefined) {
    const parsed = program.safeParse(written);
    if (!parsed.success) return problemOf(parsed.error);
    const { command: words, args, env, trusted: isTrusted } = parsed.data;
    const [command = "", ...first] = words;
    return { isTrusted, definition: { command, args: [...first, ...args], env, ...times } };
  }
  const parsed = address.safeParse(written);
  if (!parsed.success) return problemOf(parsed.error);
  const { url, headers, type, trusted: isTrusted } = parsed.data;
  return {
    isTrusted,
    definition: { url, headers, ...(type === "sse" && { transport: "sse" as const }), ...times },
  };
}

/** Names what is wrong and not the values, which may be secret. */
function problemOf({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
}
