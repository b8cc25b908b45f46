import { shorten } from "../../shorten.ts";
import { shownPath } from "../documents/shown-path.ts";
import type { FileDiagnostics } from "./diagnostics-inbox.ts";

const MAX_PER_FILE = 10;
const MAX_IN_ALL = 30;
const MAX_MESSAGE_LENGTH = 500;

/** The text of a reminder about findings; paths below the folder are relative to it. */
export function renderDiagnostics(files: readonly FileDiagnostics[], directory: string): string {
  const lines: string[] = [];
  let left = MAX_IN_ALL;
  let hidden = 0;
  for (const { path, diagnostics } of files) {
    const shown = diagnostics.slice(0, Math.min(MAX_PER_FILE, left));
    left -= shown.length;
    hidden += diagnostics.length - shown.length;
    if (shown.length > 0) lines.push(`${oneLine(shownPath(path, directory))}:`);
    for (const { severity, line, message } of shown) {
      lines.push(`  ${severity}[L${line}]: ${oneLine(shorten(message, MAX_MESSAGE_LENGTH))}`);
    }
  }
  if (hidden > 0) lines.push(`... and ${hidden} more`);
  return `The language servers have found problems:\n${lines.join("\n")}`;
}

/** On one line, and unable to close the reminder it stands in. */
function oneLine(text: string): string {
  return text
    .trim()
    .replace(/\s*[\r\n]+\s*/g, " ")
    .replace(/<(?=\s*\/\s*system-reminder)/gi, "&lt;");
}
