/** Characters that make a command more than one program with its arguments, or change what it runs. */
const COMPOUND = /[$`;&|<>()\n\r]/;
/** A word that the shell may replace by names of files or by several words, among them options. */
const OPEN_WORD = /(?:^|[ \t])(?=[-*?[{'"\\])[^ \t]*[*?[{]/;
/** Quotes, escapes and control characters: words are not what they look like. */
const UNPLAIN = /['"\\]|(?!\t)\p{Cc}/u;
const SEPARATORS = /&&|\|\||\$\(|<\(|>\(|[;&|\n\r`(){}]|>+/;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=\S*\s+/;

/**
 * True when a command runs, or may run, more than one program, redirects something, expands a variable, or has a
 * pattern that may become an option. Knows nothing of quotes: within them these characters count too.
 */
export function isCompound(command: string): boolean {
  return COMPOUND.test(command) || OPEN_WORD.test(command);
}

/** The words of a command that the shell splits where we do; undefined when there may be more to it. */
export function plainWords(command: string): string[] | undefined {
  if (isCompound(command) || UNPLAIN.test(command)) return undefined;
  // Only what the shell splits at, which is less than what the language calls white space.
  return command.split(/[ \t]+/).filter((word) => word !== "");
}

/**
 * The command itself and every part of it that may be a program of its own, with and without leading variable
 * assignments, quotes and escapes. Knows nothing of the meaning of quotes, so it finds too many parts rather than too
 * few: for deny and ask rules.
 */
export function commandParts(command: string): string[] {
  const joined = command.replace(/\\\r?\n/g, "");
  const parts = new Set<string>([command.trim()]);
  for (const part of [command, joined].flatMap((text) => text.split(SEPARATORS))) {
    let rest = part.trim();
    while (rest !== "") {
      parts.add(rest);
      parts.add(rest.replace(/['"\\]/g, ""));
      const bare = rest.replace(ASSIGNMENT, "");
      if (bare === rest) break;
      rest = bare;
    }
  }
  return [...parts];
}
