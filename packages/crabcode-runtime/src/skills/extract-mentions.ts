/** What a message mentions that skills may be about. */
export interface Mentions {
  readonly paths: readonly string[];
  readonly commands: readonly string[];
  /** Lines that import something. */
  readonly imports: readonly string[];
}

/** Of a longer text the beginning is looked at. */
const MAX_CHARS = 100_000;
const MAX_MENTIONS = 200;

const PROGRAMS = "git|npm|yarn|pip|python|cargo|make|docker|kubectl";
/** Not an apostrophe within a word. */
const QUOTED = /(?<!\w)(?:"([^"\n]{1,500})"|'([^'\n]{1,500})')(?!\w)/g;
/** Abbreviations that look like files. */
const NO_FILES: ReadonlySet<string> = new Set(["e.g", "i.e"]);
const WORD = /[^\s"'`,;()<>[\]{}]+/g;
const WITH_EXTENSION = /^[\w@~./\\-]*[\w)\]-]\.[A-Za-z][A-Za-z0-9]{0,9}$/;
const IN_BACKTICKS = /`([^`\n]{1,1000})`/g;
const COMMAND_LINE = new RegExp(`^[ \\t]*(?:\\$[ \\t]+)?((?:${PROGRAMS})(?:[ \\t].{0,1000})?)$`, "gm");
/** Longer ones are no imports that anybody wrote. */
const MAX_IMPORT_CHARS = 1_000;
const IMPORT =
  /^(?:import[ \t({"'].*|from[ \t]+\S+[ \t]+import\b.*|.{0,200}\brequire\([^)]{1,200}\).*|#include[ \t].*|use[ \t]+[\w:]+.*;)$/;
const END_MARKS: ReadonlySet<string> = new Set([".", ":", "!", "?"]);

/** Finds files (quoted, or words with an extension), commands and import lines in a message. */
export function extractMentions(message: string): Mentions {
  const text = message.slice(0, MAX_CHARS);
  const quoted: string[] = [];
  const rest = text.replace(QUOTED, (whole: string, double?: string, single?: string) => {
    const inner = double ?? single ?? "";
    if (!isPath(inner)) return whole;
    quoted.push(inner);
    return " ";
  });
  const words = [...rest.matchAll(WORD)]
    .map(([word]) => withoutEndMarks(word))
    .filter((word) => !word.includes("://") && WITH_EXTENSION.test(word) && !NO_FILES.has(word));
  return {
    paths: distinct([...quoted, ...words]),
    commands: distinct([
      ...[...text.matchAll(IN_BACKTICKS)].map(([, command = ""]) => command.trim()),
      ...[...text.matchAll(COMMAND_LINE)].map(([, command = ""]) => command.trim()),
    ]),
    imports: distinct(
      text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line.length <= MAX_IMPORT_CHARS && IMPORT.test(line)),
    ),
  };
}

/** A regular expression would begin anew at each of many marks. */
function withoutEndMarks(word: string): string {
  let end = word.length;
  while (end > 0 && END_MARKS.has(word.charAt(end - 1))) end -= 1;
  return word.slice(0, end);
}

function isPath(text: string): boolean {
  return !/\s{2,}|:\/\//.test(text) && (text.includes("/") || WITH_EXTENSION.test(text));
}

function distinct(items: readonly string[]): string[] {
  return [...new Set(items)].filter((item) => item !== "").slice(0, MAX_MENTIONS);
}
