import type { SessionScope } from "../session-resource.ts";
import { buildShellEnvironment } from "../shell/shell-environment.ts";

/**
 * The environment of a server that is run for the tools: what a command gets, and the variables configured for it. The
 * server's own keys are not among the former.
 */
export function serverEnvironment(
  {
    environment,
    settings,
    secretVariables,
  }: Pick<SessionScope, "environment" | "settings" | "secretVariables">,
  configured: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const inherited = buildShellEnvironment({
    server: environment,
    policy: settings.environment,
    secretVariables,
  });
  return { ...inherited, ...configured };
}
