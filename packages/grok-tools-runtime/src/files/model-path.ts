import { isAbsolute, resolve, sep } from "node:path";

/** What relative paths and `~` refer to. */
export interface PathBase {
  /** Absolute. */
  readonly workingDirectory: string;
  /** Undefined: a leading `~` is kept as it is. */
  readonly homeDirectory: string | undefined;
}

/** A path as a model wrote it, understood. */
export interface ModelPath {
  /** Absolute and free of `.` and `..`; symbolic links are not resolved. */
  readonly path: string;
  /** The argument without quotes and the like, for messages. */
  readonly argument: string;
  /** Absolute form of the argument for messages. */
  readonly display: string;
}

/**
 * Understands a path argument. Models wrap paths in quotes, add line ends and forget the leading slash.
 */
export function toModelPath(raw: string, { workingDirectory, homeDirectory }: PathBase): ModelPath {
  const argument = cleanArgument(raw);
  const expanded = expandHome(argument, homeDirectory);
  const rebased = `/${expanded}`;
  const forgotSlash =
    !isAbsolute(expanded) && (rebased === workingDirectory || rebased.startsWith(workingDirectory + sep));
  const path = resolve(workingDirectory, forgotSlash ? rebased : expanded);
  return { path, argument, display: path };
}

/** Trims, removes quotes, and after a quoted path the escapes of line ends that models leave before the quote. */
function cleanArgument(raw: string): string {
  const trimmed = raw.trim();
  const isQuoted = trimmed.length >= 2 && /^["']/.test(trimmed) && /["']$/.test(trimmed);
  let argument = trimQuotes(trimmed).trim();
  while (isQuoted && /\\[nrt]$/.test(argument)) argument = argument.slice(0, -2);
  return argument;
}

function trimQuotes(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isQuote(text[start])) start += 1;
  while (end > start && isQuote(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

function isQuote(character: string | undefined): boolean {
  return character === '"' || character === "'";
}

function expandHome(argument: string, homeDirectory: string | undefined): string {
  if (homeDirectory === undefined) return argument;
  if (argument === "~") return homeDirectory;
  return argument.startsWith("~/") ? homeDirectory + argument.slice(1) : argument;
}
