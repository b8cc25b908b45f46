/** The folder where upstream keeps the user's settings and its sessions; undefined when the user has no home. */
export function crabcodeHome(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return env["CRABCODE_HOME"] ?? (env["HOME"] === undefined ? undefined : `${env["HOME"]}/.crabcode`);
}
