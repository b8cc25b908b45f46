import type { Logger } from "@trivium/core";
import type { SettingsSources } from "../crabcode-runtime.ts";
import { readMcpServers } from "../mcp/read-mcp-servers.ts";
import { readSettings } from "./read-settings.ts";

/** What is ignored or broken in the settings and MCP files that a session in `cwd` would have, one text each. */
export function settingsFindings(sources: SettingsSources, cwd: string): string[] {
  const findings: string[] = [];
  const logger: Logger = {
    debug() {},
    info() {},
    warn: (fields, message) => void findings.push(describe(fields, message)),
    error: (fields, message) => void findings.push(describe(fields, message)),
    child: () => logger,
  };
  const { userFolder, homeFolder } = sources;
  const { isTrustedFolder, mcpServers } = readSettings(sources, cwd, logger);
  readMcpServers({ cwd, userFolder, homeFolder, isTrustedFolder, settings: mcpServers }, logger);
  return findings;
}

/** Names only: values may be secret. */
function describe(fields: Readonly<Record<string, unknown>>, message: string): string {
  const { file, server, ignored, problem } = fields;
  const about = [file, server, problem, Array.isArray(ignored) ? ignored.join(", ") : undefined];
  return [message, ...about.filter((part) => typeof part === "string")].join(": ");
}
