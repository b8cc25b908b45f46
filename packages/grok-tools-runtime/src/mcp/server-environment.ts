import type { SessionScope } from "../session-resource.ts";
import { buildShellEnvironment } from "../shell/shell-environment.ts";

/** What the environment of a server is made of. */
export interface ServerEnvironmentSources extends Pick<SessionScope, "environment" | "secretVariables"> {
  readonly settings: Pick<SessionScope["settings"], "environment">;
}

/**
 * The environment of a server that is run for the tools: what a command gets, and the variables configured for it. The
 * server's own keys are not among the former.
 */
export function serverEnvironment(
  { environment, settings, secretVariables }: ServerEnvironmentSources,
  configured: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const inherited = buildShellEnvironment({
    server: environment,
    policy: settings.environment,
    secretVariables,
  });
  return { ...inherited, ...configured };
}
