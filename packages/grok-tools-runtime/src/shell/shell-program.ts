import { basename } from "node:path";

/** Which shell runs a command, and how. */
export interface ShellChoice {
  /** Path given by the configuration. */
  readonly shell: string | null;
  /** Read the user's profile first. */
  readonly isLogin: boolean;
  /** Environment of the command. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Arguments that run a command: the user's shell when that is bash or zsh, else bash. */
export function shellArguments(
  command: string,
  { shell, isLogin, environment }: ShellChoice,
): [string, ...string[]] {
  const userShell = environment["SHELL"] ?? "";
  const known = /^(bash|zsh)$/.test(basename(userShell)) ? userShell : "bash";
  const program = shell ?? known;
  const login = isLogin ? ["-l"] : [];
  switch (basename(program)) {
    case "bash":
      return [program, ...login, "-O", "extglob", "-c", command];
    case "zsh":
      return [program, ...login, "-o", "nonomatch", "-c", command];
    default:
      return [program, ...login, "-c", command];
  }
}
