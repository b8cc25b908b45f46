/** One line of an ignore file, ready to match. */
export interface IgnorePattern {
  readonly isNegated: boolean;
  readonly onlyFolders: boolean;
  /** Segments of the path below the file's folder; `**` stands for any number of segments. */
  readonly segments: readonly string[];
}

/**
 * Parses a line of a `.gitignore`; undefined for blanks and comments.
 * Format: gitignore(5), "PATTERN FORMAT".
 */
export function parseIgnorePattern(line: string): IgnorePattern | undefined {
  let text = trimTrailingSpaces(line.replace(/\r$/, ""));
  if (text === "" || text.startsWith("#")) return undefined;
  const isNegated = text.startsWith("!");
  if (isNegated) text = text.slice(1);
  const onlyFolders = text.endsWith("/");
  if (onlyFolders) text = text.slice(0, -1);
  if (text === "" || text === "/") return undefined;
  // A slash at the beginning or in the middle ties the pattern to the folder of the file.
  const isAnchored = text.includes("/");
  const segments = text.replace(/^\//, "").split("/");
  return { isNegated, onlyFolders, segments: isAnchored ? segments : ["**", ...segments] };
}

/** Trailing spaces do not count unless a backslash stands before them. */
function trimTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === " " || line[end - 1] === "\t") && line[end - 2] !== "\\") end -= 1;
  return line.slice(0, end);
}

/** Whether a pattern matches a path, given as segments below the folder of the ignore file. */
export function matchesPattern(pattern: IgnorePattern, path: readonly string[], isFolder: boolean): boolean {
  if (pattern.onlyFolders && !isFolder) return false;
  return matchesSegments(pattern.segments, path);
}

/** Whether segments with wildcards match a path. Keeps the set of reachable positions, so the time is bounded by the product of the lengths. */
export function matchesSegments(segments: readonly string[], path: readonly string[]): boolean {
  let reachable = new Set([0]);
  segments.forEach((segment, index) => {
    const next = new Set<number>();
    for (const at of reachable) {
      if (segment === "**") {
        // The last `**` means everything inside, so at least one segment.
        const first = index === segments.length - 1 ? at + 1 : at;
        for (let end = first; end <= path.length; end += 1) next.add(end);
      } else {
        const name = path[at];
        if (name !== undefined && matchesName(segment, name)) next.add(at + 1);
      }
    }
    reachable = next;
  });
  return reachable.has(path.length);
}

/**
 * Whether a wildcard matches one name: `*`, `?`, `[…]` and backslash escapes.
 * Goes back to the last `*` only, which is enough and keeps hostile patterns cheap.
 */
export function matchesName(wildcard: string, name: string): boolean {
  let at = 0;
  let index = 0;
  let star = -1;
  let starName = 0;
  while (index < name.length) {
    const step = at < wildcard.length ? matchOne(wildcard, at, name[index] ?? "") : undefined;
    if (wildcard[at] === "*") {
      star = at;
      starName = index;
      at += 1;
    } else if (step !== undefined) {
      at = step;
      index += 1;
    } else if (star !== -1) {
      at = star + 1;
      starName += 1;
      index = starName;
    } else {
      return false;
    }
  }
  while (wildcard[at] === "*") at += 1;
  return at >= wildcard.length;
}

/** Position in the wildcard behind what matched one character; undefined when it does not match. */
function matchOne(wildcard: string, at: number, character: string): number | undefined {
  const token = wildcard[at];
  if (token === "?") return at + 1;
  if (token === "\\") return wildcard[at + 1] === character ? at + 2 : undefined;
  if (token === "[") return matchClass(wildcard, at, character);
  return token === character ? at + 1 : undefined;
}

function matchClass(wildcard: string, start: number, character: string): number | undefined {
  let at = start + 1;
  const isNegated = wildcard[at] === "!" || wildcard[at] === "^";
  if (isNegated) at += 1;
  let found = false;
  for (let isFirst = true; isFirst || wildcard[at] !== "]"; isFirst = false) {
    if (at >= wildcard.length) return undefined;
    const named = /^\[:([a-z]+):\]/.exec(wildcard.slice(at, at + 12));
    if (named !== null) {
      if (namedClasses[named[1] ?? ""]?.test(character) === true) found = true;
      at += named[0].length;
      continue;
    }
    if (wildcard[at] === "\\") at += 1;
    const from = wildcard[at] ?? "";
    let to = from;
    if (wildcard[at + 1] === "-" && wildcard[at + 2] !== undefined && wildcard[at + 2] !== "]") {
      at += wildcard[at + 2] === "\\" ? 3 : 2;
      to = wildcard[at] ?? "";
    }
    if (from <= character && character <= to) found = true;
    at += 1;
  }
  return found === isNegated ? undefined : at + 1;
}

/** POSIX classes, for ASCII as git has them. */
const namedClasses: Readonly<Record<string, RegExp>> = {
  alnum: /[0-9A-Za-z]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  cntrl: /\p{Cc}/u,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[\t-\r ]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};
