/** What the Codex CLI calls its code-mode host, whatever carries the connection. No page can be served under it. */
const CODEX_AUTHORITY = "code-mode-host";

/**
 * Host names that requests to a server may address. Undefined: any; off loopback the token is what counts, unless names
 * are configured.
 */
export function allowedHosts(
  configured: readonly string[],
  { host, isLoopback }: { readonly host: string; readonly isLoopback: boolean },
): string[] | undefined {
  if (!isLoopback && configured.length === 0) return undefined;
  return [...configured, host, "localhost", "127.0.0.1", "[::1]", CODEX_AUTHORITY];
}
