/** `pkill` or `pgrep` with its arguments, at the place where a command may begin. */
const KILL_COMMAND =
  /(?:^|[;&|(\n]|\b(?:then|do|else|sudo|exec)\s)\s*(pkill|pgrep)((?:\s+(?:"[^"\n]*"|'[^'\n]*'|[^\s;&|()<>"']+))*)/g;
const WORD = /"[^"\n]*"|'[^'\n]*'|[^\s"']+/g;
/** Flags that take a value, which is not the pattern. */
const FLAGS_WITH_VALUE =
  /^-(?:[a-zA-Z]*[gGPstuUFrdn]|-(?:pgroup|group|parent|session|terminal|euid|uid|pidfile|runstates|signal|delimiter|ns|nslist))$/;
const MIN_PATTERN_BYTES = 3;

/**
 * The pattern of a `pkill -f` or `pgrep -f … kill` that would match the shell that runs the command, since the
 * pattern also occurs elsewhere in the text. Undefined when there is none.
 */
export function selfMatchingPattern(command: string): string | undefined {
  for (const match of command.matchAll(KILL_COMMAND)) {
    const [whole, program = "", argumentText = ""] = match;
    const pattern = fullMatchPattern(argumentText);
    if (pattern === undefined) continue;
    const rest = command.slice(0, match.index) + command.slice(match.index + whole.length);
    if (program === "pgrep" && !/\bkill\b/.test(rest)) continue;
    if (rest.includes(pattern)) return pattern;
  }
  return undefined;
}

/** The literal pattern after a flag that makes it match whole command lines. */
function fullMatchPattern(argumentText: string): string | undefined {
  let matchesCommandLine = false;
  let skipsNext = false;
  for (const [word] of argumentText.matchAll(WORD)) {
    if (skipsNext) skipsNext = false;
    else if (word.startsWith("-") && word.length > 1) {
      if (word === "--full" || /^-[a-zA-Z0-9]*f[a-zA-Z0-9]*$/.test(word)) matchesCommandLine = true;
      skipsNext = !matchesCommandLine && FLAGS_WITH_VALUE.test(word);
    } else if (matchesCommandLine) {
      const pattern = word.replace(/^(["'])(.*)\1$/s, "$2");
      const isLiteral = !/\$\(|\$\{|`/.test(pattern);
      return isLiteral && Buffer.byteLength(pattern) >= MIN_PATTERN_BYTES ? pattern : undefined;
    }
  }
  return undefined;
}
