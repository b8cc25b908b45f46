import { findConfusableMatches } from "./confusables.ts";
import { type EditableText, parseEditableText, toUnits } from "./editable-text.ts";
import { findMatches, MAX_MATCHES, type Span } from "./find-matches.ts";
import { type Fuzziness, findFuzzily, type MatchLevel } from "./fuzzy-matches.ts";
import { withoutLineAnchors } from "./line-anchors.ts";
import { LineEndingCursor, renderReplacement } from "./render-replacement.ts";
import { type Replacement, type SplicedContent, spliceText } from "./splice.ts";

/** An exact replacement of text. Neither string is ever a pattern. */
export interface TextReplacement {
  /** Not empty. */
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll: boolean;
  /** Looks again with typographic characters flattened when nothing matches. Default false. */
  readonly flattensTypography?: boolean | undefined;
  /** Looks for places that are only like the text when nothing matches. Default `off`. */
  readonly fuzziness?: Fuzziness | undefined;
}

/** What {@link replaceText} did, or why it did nothing. */
export type ReplaceTextOutcome =
  | ReplacedText
  /** NUL in the first 8 KiB and no UTF-16 byte order mark. */
  | { readonly kind: "binary" }
  /** A lone surrogate, which no file encoding can hold: `oldString` or `newString`. */
  | { readonly kind: "not-text"; readonly field: "oldString" | "newString" }
  /** The strings differ in line endings only, which an edit keeps. */
  | { readonly kind: "only-line-endings" }
  | { readonly kind: "no-match"; readonly text: EditableText }
  /** More than {@link MAX_MATCHES} places. */
  | { readonly kind: "too-many-matches" }
  /** `matchCount` places, or places that are no whole characters of the file (`isAmbiguous`). */
  | { readonly kind: "multiple-matches"; readonly matchCount: number; readonly isAmbiguous: boolean };

/** A replacement that can be written. */
export interface ReplacedText extends SplicedContent {
  readonly kind: "replaced";
  readonly text: EditableText;
  readonly replacements: readonly Replacement[];
  /** The strings carried line anchors of a reading tool, which were removed. */
  readonly anchorsRemoved: boolean;
  /** Found only with typographic characters flattened. */
  readonly typographyFlattened: boolean;
  /** `exact` unless it was found only by looking for something like it. */
  readonly matchLevel: MatchLevel;
}

/**
 * Computes an exact replacement on the bytes of a file.
 *
 * Only bytes of the matched spans change. See {@link findMatches} for what matches and {@link renderReplacement} for
 * the line endings that are written.
 */
export function replaceText(content: Uint8Array, request: TextReplacement): ReplaceTextOutcome {
  const text = parseEditableText(content);
  if (text === undefined) return { kind: "binary" };
  for (const field of ["oldString", "newString"] as const) {
    if (!request[field].isWellFormed()) return { kind: "not-text", field };
  }
  const strings = withoutMark(text, request);
  if (foldLineEndings(strings.oldString) === foldLineEndings(strings.newString))
    return { kind: "only-line-endings" };
  return (
    replaceExact(text, strings) ??
    replaceWithoutAnchors(text, strings) ??
    (request.flattensTypography === true ? replaceFlattened(text, strings) : undefined) ??
    replaceAlike(text, strings) ?? { kind: "no-match", text }
  );
}

function foldLineEndings(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** A byte order mark is no text: reading tools may hand it out with the first line. */
function withoutMark(text: EditableText, request: TextReplacement): TextReplacement {
  if (text.markBytes === 0 || !request.oldString.startsWith("\ufeff") || request.oldString.length === 1)
    return request;
  return {
    ...request,
    oldString: request.oldString.slice(1),
    newString: request.newString.startsWith("\ufeff") ? request.newString.slice(1) : request.newString,
  };
}

function replaceExact(text: EditableText, request: TextReplacement): ReplaceTextOutcome | undefined {
  const spans = findMatches(text.units, toUnits(request.oldString, text));
  return spans.length === 0 ? undefined : replaceSpans(text, request, { spans });
}

function replaceWithoutAnchors(text: EditableText, request: TextReplacement): ReplaceTextOutcome | undefined {
  const oldString = withoutLineAnchors(request.oldString);
  if (oldString === undefined || oldString === "") return undefined;
  const newString = withoutLineAnchors(request.newString) ?? request.newString;
  const spans = findMatches(text.units, toUnits(oldString, text));
  if (spans.length === 0) return undefined;
  return replaceSpans(text, { ...request, oldString, newString }, { spans, anchorsRemoved: true });
}

function replaceFlattened(text: EditableText, request: TextReplacement): ReplaceTextOutcome | undefined {
  const { candidateCount, spans } = findConfusableMatches(text, toUnits(request.oldString, text));
  if (candidateCount === 0) return undefined;
  const overlap = spans.some((span, index) => span.start < (spans[index - 1]?.end ?? 0));
  if (spans.length === 0 || overlap) {
    return { kind: "multiple-matches", matchCount: candidateCount, isAmbiguous: true };
  }
  return replaceSpans(text, request, { spans, typographyFlattened: true });
}

function replaceAlike(text: EditableText, request: TextReplacement): ReplaceTextOutcome | undefined {
  const { oldString, newString, replaceAll, fuzziness = "off" } = request;
  if (fuzziness === "off") return undefined;
  const outcome = findFuzzily({
    units: text.units.toString(),
    oldUnits: toUnits(oldString, text),
    newUnits: toUnits(newString, text),
    fuzziness,
    replaceAll,
  });
  if (outcome === undefined) return undefined;
  if (outcome.kind === "ambiguous") {
    return { kind: "multiple-matches", matchCount: outcome.matchCount, isAmbiguous: false };
  }
  if (outcome.matches.length > MAX_MATCHES) return { kind: "too-many-matches" };
  const endings = new LineEndingCursor(text.units);
  const replacements = outcome.matches.map(({ span, newUnits }) => ({
    span,
    units: renderReplacement(endings, span, newUnits),
  }));
  return {
    kind: "replaced",
    ...spliceText(text, replacements),
    text,
    replacements,
    anchorsRemoved: false,
    typographyFlattened: false,
    matchLevel: outcome.level,
  };
}

interface FoundSpans {
  readonly spans: readonly Span[];
  readonly anchorsRemoved?: boolean;
  readonly typographyFlattened?: boolean;
}

function replaceSpans(text: EditableText, request: TextReplacement, found: FoundSpans): ReplaceTextOutcome {
  const { spans, anchorsRemoved = false, typographyFlattened = false } = found;
  if (spans.length > 1 && !request.replaceAll) {
    return { kind: "multiple-matches", matchCount: spans.length, isAmbiguous: false };
  }
  if (spans.length > MAX_MATCHES) return { kind: "too-many-matches" };
  const newUnits = toUnits(request.newString, text);
  const endings = new LineEndingCursor(text.units);
  const replacements = spans.map((span) => ({
    span,
    units: renderReplacement(endings, span, newUnits),
  }));
  return {
    kind: "replaced",
    ...spliceText(text, replacements),
    text,
    replacements,
    anchorsRemoved,
    typographyFlattened,
    matchLevel: "exact",
  };
}
