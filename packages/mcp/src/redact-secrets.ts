import { isStdioServer, type McpServerConfig } from "./server-config.ts";

/** Shorter words are in many texts by chance. */
const MIN_SECRET_CHARS = 6;
const SECRET_NAME = /key|token|secret|passw|credential|auth/i;

/** A text about a server without the keys it was given: its headers, and variables whose names tell of secrets. */
export function withoutSecrets(text: string, config: McpServerConfig): string {
  return secretsOf(config).reduce((left, secret) => left.replaceAll(secret, "***REDACTED***"), text);
}

function secretsOf(config: McpServerConfig): string[] {
  const values = isStdioServer(config)
    ? Object.entries(config.env ?? {}).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []))
    : Object.values(config.headers ?? {});
  // A server may repeat `Bearer x` without the first word.
  return values
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter((value) => value.length >= MIN_SECRET_CHARS && value !== "Bearer")
    .sort((one, other) => other.length - one.length);
}
