import type { SearchScope } from "./search-query.ts";

/** Path of ripgrep: the configured one, the one of the package, else a name for the `PATH`. */
export async function ripgrepProgram(rgPath: string | undefined): Promise<string> {
  if (rgPath !== undefined) return rgPath;
  try {
    // Throws while loading on platforms the package has no binary for.
    const { rgPath: packaged } = await import("@vscode/ripgrep");
    return packaged;
  } catch {
    // Not a failure yet: the machine may have its own.
    return "rg";
  }
}

/** Variables ripgrep needs: where programs are, and where the user's excludes are. */
export function ripgrepEnvironment({
  environment,
}: Pick<SearchScope, "environment">): Record<string, string> {
  const names = ["PATH", "HOME", "XDG_CONFIG_HOME", "SystemRoot"];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
