/** A piece of a line that is marked up: emphasis, code or a link. */
export interface InlineSpan {
  readonly element: string;
  /** Where it begins in the line. */
  start: number;
  /** The text with its marks; the text has no blanks around it and is not empty. */
  readonly mark: (text: string) => string;
}

/** Elements that become marks, with those marks. */
const MARKS: Readonly<Record<string, string>> = {
  strong: "**",
  b: "**",
  em: "*",
  i: "*",
  del: "~~",
  s: "~~",
  strike: "~~",
};
const CODE = new Set(["code", "kbd", "samp", "tt"]);

/** The span an element makes; undefined when it makes none. */
export function spanOf(
  element: string,
  attributes: Readonly<Record<string, string>>,
  base: URL,
): Omit<InlineSpan, "start"> | undefined {
  const marks = MARKS[element];
  if (marks !== undefined) return { element, mark: (text) => marks + text + marks };
  if (CODE.has(element)) return { element: "code", mark: markCode };
  if (element !== "a") return undefined;
  const target = linkTarget(attributes["href"], base);
  return target === undefined ? undefined : { element, mark: (text) => `[${text}](${target})` };
}

/** A picture in the text. Empty when neither its place nor its description is of use. */
export function imageText(attributes: Readonly<Record<string, string>>, base: URL): string {
  const description = (attributes["alt"] ?? "").replace(/\s+/g, " ").trim();
  const target = linkTarget(attributes["src"], base);
  return target === undefined ? description : `![${description}](${target})`;
}

/** Marks what begins at `start`, blanks around it left outside. */
export function closeSpan(line: string, { start, mark }: InlineSpan): string {
  const inner = line.slice(start);
  const text = inner.trim();
  if (text === "") return line;
  const lead = inner.slice(0, inner.indexOf(text));
  return line.slice(0, start) + lead + mark(text) + inner.slice(lead.length + text.length);
}

/** Absolute address of a link that leads somewhere else; undefined for scripts, places on the page and the like. */
function linkTarget(reference: string | undefined, base: URL): string | undefined {
  if (reference === undefined || reference === "" || reference.startsWith("#")) return undefined;
  const url = URL.parse(reference.trim(), base);
  if (url === null || !/^(https?|mailto|ftp):$/.test(url.protocol)) return undefined;
  return url.href.replaceAll("(", "%28").replaceAll(")", "%29");
}

/** Inline code, in as many backticks as its text needs. */
function markCode(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].slice(0, 100).map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const blank = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return fence + blank + text + blank + fence;
}
