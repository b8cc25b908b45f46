import { z } from "zod";

/** One finding of a server, as far as a model is told of it. */
export interface Diagnostic {
  readonly severity: "error" | "warn";
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** More of one file nobody reads. */
const MAX_KEPT = 200;

const diagnostic = z.object({
  range: z.object({ start: z.object({ line: z.int().nonnegative() }) }),
  // A server that says nothing means an error.
  severity: z.int().default(1),
  message: z.union([z.string(), z.object({ value: z.string() }).transform(({ value }) => value)]),
});

const published = z.object({
  uri: z.string(),
  version: z.int().nullish(),
  diagnostics: z.array(z.unknown()),
});

const report = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("full"), items: z.array(z.unknown()), resultId: z.string().optional() }),
  z.object({ kind: z.literal("unchanged"), resultId: z.string() }),
]);

/** What a server has sent about a file. */
export interface PublishedDiagnostics {
  readonly uri: string;
  /** Version of the document it is about, when the server says it. */
  readonly version: number | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads `textDocument/publishDiagnostics`; undefined when it is malformed. */
export function readPublished(params: unknown): PublishedDiagnostics | undefined {
  const { success, data } = published.safeParse(params);
  if (!success) return undefined;
  return {
    uri: data.uri,
    version: data.version ?? undefined,
    diagnostics: readDiagnostics(data.diagnostics),
  };
}

/** What a server has answered about a file. */
export interface DiagnosticReport {
  /** Undefined: the same as before. */
  readonly diagnostics: readonly Diagnostic[] | undefined;
  readonly resultId: string | undefined;
}

/** Reads the answer to `textDocument/diagnostic`; undefined when it is malformed. */
export function readReport(answer: unknown): DiagnosticReport | undefined {
  const { success, data } = report.safeParse(answer);
  if (!success) return undefined;
  return {
    diagnostics: data.kind === "full" ? readDiagnostics(data.items) : undefined,
    resultId: data.resultId,
  };
}

/** Errors and warnings, errors first, then by line. Hints are for people at an editor. */
function readDiagnostics(items: readonly unknown[]): Diagnostic[] {
  const found: Diagnostic[] = [];
  for (const item of items) {
    const { success, data } = diagnostic.safeParse(item);
    if (!success || data.severity > 2) continue;
    const severity = data.severity === 1 ? "error" : "warn";
    found.push({ severity, line: data.range.start.line + 1, message: data.message });
  }
  return found.sort(bySeverityAndLine).slice(0, MAX_KEPT);
}

/** Order of findings: errors before warnings, then by line. */
export function bySeverityAndLine(one: Diagnostic, other: Diagnostic): number {
  if (one.severity !== other.severity) return one.severity === "error" ? -1 : 1;
  return one.line - other.line;
}
