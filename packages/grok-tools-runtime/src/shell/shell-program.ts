import { basename } from "node:path";

/** Which shell runs a command, and how. */
export interface ShellChoice {
  /** Path given by the configuration. */
  readonly shell: string | null;
  /** Environment of the command. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Arguments that run a command: the user's shell when that is bash or zsh, else bash. */
export function shellArguments(command: string, { shell, environment }: ShellChoice): [string, ...string[]] {
  const userShell = environment["SHELL"] ?? "";
  const known = /^(bash|zsh)$/.test(basename(userShell)) ? userShell : "bash";
  const program = shell ?? known;
  switch (basename(program)) {
    case "bash":
      return [program, "-O", "extglob", "-c", command];
    case "zsh":
      return [program, "-o", "nonomatch", "-c", command];
    default:
      return [program, "-c", command];
  }
}
