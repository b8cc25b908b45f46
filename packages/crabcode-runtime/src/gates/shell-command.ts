/** What makes a command more than one program with its arguments. */
const COMPOUND = /;|&|\||\n|\r|`|\$\(|<\(|>/;
const SEPARATORS = /&&|\|\||\$\(|<\(|>\(|[;&|\n\r`(){}]|>+/;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=\S*\s+/;

/** True when a command runs, or may run, more than one program, or redirects its output. */
export function isCompound(command: string): boolean {
  return COMPOUND.test(command);
}

/**
 * The command itself and every part of it that may be a program of its own, with and without leading variable
 * assignments. Knows nothing of quotes, so it finds too many parts rather than too few: for deny and ask rules.
 */
export function commandParts(command: string): string[] {
  const parts = new Set<string>([command.trim()]);
  for (const part of command.split(SEPARATORS)) {
    let rest = part.trim();
    while (rest !== "") {
      parts.add(rest);
      const bare = rest.replace(ASSIGNMENT, "");
      if (bare === rest) break;
      rest = bare;
    }
  }
  return [...parts];
}
