import { basename } from "node:path";

/** Which shell runs a command, and how. */
export interface ShellChoice {
  /** Path given by the configuration. */
  readonly shell: string | null;
  /** Environment of the command. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The shell that is configured, else that of the user when it is bash or zsh, else bash. */
export function shellProgram({ shell, environment }: ShellChoice): string {
  const userShell = environment["SHELL"] ?? "";
  return shell ?? (/^(bash|zsh)$/.test(basename(userShell)) ? userShell : "bash");
}

/** Arguments that have a shell run a command. */
export function shellArguments(program: string, command: string): [string, ...string[]] {
  switch (basename(program)) {
    case "bash":
      return [program, "-O", "extglob", "-c", command];
    case "zsh":
      return [program, "-o", "nonomatch", "-c", command];
    default:
      return [program, "-c", command];
  }
}
