import { pathOfUri } from "../../../lsp/documents/file-uri.ts";
import { shownPath } from "../../../lsp/documents/shown-path.ts";
import type { FoundLocation, FoundSymbol } from "./read-answers.ts";
import { symbolKindName } from "./symbol-kinds.ts";

/** More is only counted. */
const MAX_SHOWN = 200;

/** Places, below a line that says how many there are. */
export function renderLocations(
  label: string,
  locations: readonly FoundLocation[],
  directory: string,
): string {
  if (locations.length === 0) return "No results found.";
  const shown = locations
    .slice(0, MAX_SHOWN)
    .map(
      ({ uri, line, character }) => `  ${shownPath(pathOfUri(uri), directory)}:${line + 1}:${character + 1}`,
    );
  const count = `${locations.length} ${locations.length === 1 ? "location" : "locations"}`;
  return [`${label} (${count}):`, ...shown, ...rest(locations.length)].join("\n");
}

/** Symbols, those inside others indented. */
export function renderSymbols(
  symbols: readonly FoundSymbol[],
  { path, directory }: { readonly path: string | undefined; readonly directory: string },
): string {
  if (symbols.length === 0) return "No symbols found.";
  const lines = symbols.flatMap((symbol) => linesOf(symbol, { path, directory, depth: 0 }));
  return [...lines.slice(0, MAX_SHOWN), ...rest(lines.length)].join("\n");
}

/** What is known of a place. */
export function renderHover(text: string): string {
  return text === "" ? "No hover information found." : text;
}

function linesOf(
  { name, kind, uri, line, children }: FoundSymbol,
  where: { readonly path: string | undefined; readonly directory: string; readonly depth: number },
): string[] {
  const path = uri === undefined ? where.path : pathOfUri(uri);
  const place = `${path === undefined ? "" : shownPath(path, where.directory)}${line === undefined ? "" : `:${line + 1}`}`;
  const own = `${"  ".repeat(where.depth)}${symbolKindName(kind)} ${name} (${place})`;
  return [own, ...children.flatMap((child) => linesOf(child, { ...where, depth: where.depth + 1 }))];
}

function rest(count: number): string[] {
  return count > MAX_SHOWN ? [`  ... and ${count - MAX_SHOWN} more`] : [];
}
