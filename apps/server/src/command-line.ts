import { basename } from "node:path";

/** The original program that the command of the same name stands in for. */
const CODEX_HOST = "codex-code-mode-host";

/** The parameters of a start: a link by the name of the original host is that host. */
export function commandLine([, script = "", ...parameters]: readonly string[]): string[] {
  return basename(script) === CODEX_HOST ? ["code-mode-host", ...parameters] : [...parameters];
}
