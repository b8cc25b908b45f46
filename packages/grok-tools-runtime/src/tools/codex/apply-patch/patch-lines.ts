import { trim } from "../../../files/white-space.ts";
import { PatchSyntaxError } from "./patch-syntax-error.ts";

const BEGIN_MARKER = "*** Begin Patch";
const END_MARKER = "*** End Patch";
const heredocStarts: readonly string[] = ["<<EOF", "<<'EOF'", '<<"EOF"'];
/** The heredoc's own two lines and the two markers. */
const MIN_HEREDOC_LINES = 4;
const COMMAND = "apply_patch";

/**
 * The lines of a patch, from its begin marker to its end marker.
 *
 * Around them may be white space, a shell heredoc with the delimiter EOF, and the command that the heredoc is for.
 *
 * @throws {@link PatchSyntaxError} when a marker is missing.
 */
export function patchLines(text: string): readonly string[] {
  const lines = splitLines(withoutCommand(trim(text)));
  const problem = markerProblem(lines);
  if (problem === undefined) return lines;
  if (!isHeredoc(lines)) throw new PatchSyntaxError(problem);
  const inner = lines.slice(1, -1);
  const innerProblem = markerProblem(inner);
  if (innerProblem !== undefined) throw new PatchSyntaxError(innerProblem);
  return inner;
}

function withoutCommand(text: string): string {
  if (!text.startsWith(COMMAND)) return text;
  const rest = trim(text.slice(COMMAND.length));
  return rest.startsWith("<<") ? rest : text;
}

function splitLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  // The last line has no line feed, so that a return at its end would be text.
  const last = lines.pop() ?? "";
  return [...lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line)), last];
}

function markerProblem(lines: readonly string[]): string | undefined {
  const [first] = lines;
  if (first !== undefined && trim(first) !== BEGIN_MARKER) {
    return `the first line of the patch must be '${BEGIN_MARKER}'`;
  }
  if (trim(lines.at(-1) ?? "") !== END_MARKER) {
    return `the last line of the patch must be '${END_MARKER}'`;
  }
  return undefined;
}

function isHeredoc(lines: readonly string[]): boolean {
  const [first = ""] = lines;
  const last = lines.at(-1) ?? "";
  return lines.length >= MIN_HEREDOC_LINES && heredocStarts.includes(first) && last.endsWith("EOF");
}
