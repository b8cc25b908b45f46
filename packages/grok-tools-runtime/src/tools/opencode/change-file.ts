import { stat } from "node:fs/promises";
import { sep } from "node:path";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { accessFailureOf } from "../../files/access-failure.ts";
import type { CurrentFile } from "../../files/edit-engine/current-file.ts";
import { type EditReceipt, editEngine, type NewContent } from "../../files/edit-engine/edit-engine.ts";
import { fileReadTracker } from "../../files/file-read-tracker.ts";
import { ignoreFilter } from "../../files/ignore/ignore-filter.ts";
import { type ModelPath, toModelPath } from "../../files/model-path.ts";
import { assertPathInsideRoots } from "../../files/path-jail.ts";
import { missingPathText } from "../../files/path-suggestions.ts";
import { resolveTarget } from "../../files/resolve-target.ts";
import type { LogicalFailure, ToolContext, ToolResult } from "../../tool.ts";
import type { OpenCodeEditParams } from "./edit-params.ts";

export type ChangeContext = ToolContext<OpenCodeEditParams>;

/** Why a file was not written. */
export interface ChangeRefusal extends LogicalFailure {
  readonly kind: "refusal";
  readonly variant:
    | "FileAlreadyExists"
    | "MultipleMatchesFound"
    | "NoMatchesFound"
    | "InvalidInput"
    | "FileNotFound"
    | "FilenameTooLong";
  /** Model-facing. */
  readonly text: string;
}

/** What is to be written, with what the answer needs to know of it. */
export interface ChangePlan<Facts> {
  readonly kind: "plan";
  readonly content: NewContent;
  /** The file counts as new although there is one: it was empty. */
  readonly fillsEmpty?: boolean | undefined;
  readonly facts: Facts;
}

/** A file to write. */
export interface FileChange<Facts> {
  /** The path as sent. */
  readonly filePath: string;
  /** Looks at the call after its path was found fit. */
  check(display: string): ChangeRefusal | undefined;
  /** Decides on the content, perhaps more than once. No effects. */
  plan(current: CurrentFile | undefined, display: string): ChangePlan<Facts> | ChangeRefusal;
}

/** A file that was written. */
export interface ChangedFile<Facts> {
  readonly kind: "changed";
  /** Real path. */
  readonly path: string;
  /** The path for messages. */
  readonly display: string;
  readonly receipt: EditReceipt;
  readonly facts: Facts;
}

/** Longest name of a file or folder that file systems take. */
const MAX_NAME_BYTES = 255;

/** Writes a file as a tool of this namespace: checks of the path, read tracking, and the words for what may go wrong. */
export async function changeFile<Facts>(
  change: FileChange<Facts>,
  context: ChangeContext,
): Promise<ChangedFile<Facts> | { readonly kind: "refused"; readonly result: ToolResult }> {
  const named = toModelPath(change.filePath, context);
  const path = await resolveTarget(named.path);
  const outcome = await attempt(change, { named, path }, context).catch((thrown: unknown) =>
    toRefusal(thrown, named, context),
  );
  if (outcome.kind === "changed") return outcome;
  const refusal = outcome.variant === "FileNotFound" ? await withHints(outcome, named, context) : outcome;
  return { kind: "refused", result: refusalResult(refusal, path) };
}

interface Target {
  readonly named: ModelPath;
  readonly path: string;
}

async function attempt<Facts>(
  change: FileChange<Facts>,
  { named, path }: Target,
  context: ChangeContext,
): Promise<ChangedFile<Facts> | ChangeRefusal> {
  const { display } = named;
  const refusal = (await refuseByPath({ named, path }, context)) ?? change.check(display);
  if (refusal !== undefined) return refusal;
  const { result, receipt, content } = await context.resource(editEngine).edit({
    path,
    roots: context.workspaceRoots,
    signal: context.signal,
    decide(current) {
      const plan = unreadRefusal(current, { named, path }, context) ?? change.plan(current, display);
      return { write: plan.kind === "plan" ? plan.content : undefined, result: plan };
    },
  });
  if (result.kind === "refusal") return result;
  if (receipt === undefined || content === undefined) throw new TypeError("a plan to write has a receipt");
  // Gone again already: then there is nothing to compare later edits with.
  const stats = await stat(path).catch(() => undefined);
  if (stats !== undefined) {
    context.resource(fileReadTracker).record({ path, stats, sha256: receipt.after_sha256 });
  }
  const told = result.fillsEmpty === true ? { before: null, after: content.after } : content;
  context.touched({ access: "write", path, content: told });
  return { kind: "changed", path, display, receipt, facts: result.facts };
}

async function refuseByPath(
  { named, path }: Target,
  context: ChangeContext,
): Promise<ChangeRefusal | undefined> {
  const invalid = { kind: "refusal", variant: "InvalidInput", code: ErrorCode.INVALID_INPUT } as const;
  const { display } = named;
  if (path.split(sep).some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) {
    const text = `Error: a name in the path is longer than ${MAX_NAME_BYTES} bytes.`;
    return { ...invalid, variant: "FilenameTooLong", text };
  }
  await assertPathInsideRoots(path, context.workspaceRoots);
  // What cannot be looked at is told when it is opened.
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isDirectory() === true) {
    return { ...invalid, text: `Error: ${display} is a directory, not a file.`, reason: "is_a_directory" };
  }
  if (context.settings.respectGitignore === "all" && (await context.resource(ignoreFilter).isIgnored(path))) {
    const text = `Error: ${display} is ignored by .gitignore, and ignored files are off limits here.`;
    return { ...invalid, code: ErrorCode.PERMISSION_DENIED, text, reason: "ignored" };
  }
  return undefined;
}

function unreadRefusal(
  current: CurrentFile | undefined,
  { named, path }: Target,
  context: ChangeContext,
): ChangeRefusal | undefined {
  if (!context.params.require_read || current === undefined || current.bytes.length === 0) return undefined;
  const { stats, sha256 } = current;
  const state = context.resource(fileReadTracker).stateOf({ path, stats, sha256 });
  if (state === "unchanged") return undefined;
  const read = context.toolName("read") ?? "the reading tool";
  const isNew = state === "never-read";
  const problem = isNew ? "was not read in this session" : "was changed since it was read";
  return {
    kind: "refusal",
    variant: "InvalidInput",
    code: isNew ? ErrorCode.FILE_NOT_READ : ErrorCode.FILE_EXTERNALLY_MODIFIED,
    text: `Error: ${named.display} ${problem}; read it with ${read} before changing it.`,
    suggestion: `read the file with ${read} first`,
  };
}

function toRefusal(thrown: unknown, { display }: ModelPath, context: ChangeContext): ChangeRefusal {
  const failure = {
    kind: "refusal" as const,
    variant: "InvalidInput" as const,
    ...accessFailureOf(thrown, context.signal),
  };
  if (failure.code === ErrorCode.PERMISSION_DENIED) {
    const why =
      failure.reason === "outside_roots" ? "it is outside the allowed folders" : "permission denied";
    return { ...failure, text: `Error: ${display} cannot be written: ${why}.` };
  }
  const why = thrown instanceof Error ? thrown.message : "unknown cause";
  const text = `Error: ${display} cannot be written: ${why}`;
  if (failure.code === ErrorCode.FILE_EXTERNALLY_MODIFIED) {
    return { ...failure, text, suggestion: "read the file again and repeat the change" };
  }
  // A folder of the path is a file, or went away.
  const isBrokenPath =
    failure.code === ErrorCode.FILE_NOT_FOUND || failure.code === ErrorCode.FILE_ALREADY_EXISTS;
  return { ...failure, text, code: isBrokenPath ? ErrorCode.INVALID_INPUT : failure.code };
}

async function withHints(
  refusal: ChangeRefusal,
  named: ModelPath,
  context: ChangeContext,
): Promise<ChangeRefusal> {
  const scope = { ...context, roots: context.workspaceRoots, hints: context.settings.pathHints };
  return { ...refusal, text: await missingPathText(named, scope) };
}

function refusalResult({ kind: _kind, variant, text, ...failure }: ChangeRefusal, path: string): ToolResult {
  const payload = variant === "NoMatchesFound" ? { message: text, file_path: path } : text;
  return {
    output: { type: "SearchReplace", [variant]: payload },
    promptText: text,
    failure: { ...failure, filePath: path },
  };
}
