import { stat } from "node:fs/promises";
import { sep } from "node:path";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { accessFailureOf } from "../../../files/access-failure.ts";
import type { EditReceipt } from "../../../files/edit-engine/edit-engine.ts";
import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import { ignoreFilter } from "../../../files/ignore/ignore-filter.ts";
import type { ModelPath } from "../../../files/model-path.ts";
import { assertPathInsideRoots } from "../../../files/path-jail.ts";
import { missingPathText } from "../../../files/path-suggestions.ts";
import type { ToolContext } from "../../../tool.ts";
import type { EditFailure } from "./edit-failure.ts";

/** Longest name of a file or folder that file systems take. */
const MAX_NAME_BYTES = 255;

/** True for calls of the tool's legacy version. */
export function isLegacy(context: ToolContext<unknown>): boolean {
  return context.behaviorVersion === "legacy-0.4.10";
}

/** Why a path cannot be edited, as far as its name, what is there and the ignore rules tell. */
export async function refusePath(
  { path, argument }: { readonly path: string; readonly argument: string },
  context: ToolContext<unknown>,
): Promise<EditFailure | undefined> {
  const invalid = { kind: "failure", variant: "InvalidInput", code: ErrorCode.INVALID_INPUT } as const;
  if (path.split(sep).some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) {
    const text = `Error: a name in ${argument} is longer than ${MAX_NAME_BYTES} bytes.`;
    return { ...invalid, variant: "FilenameTooLong", text };
  }
  const obeysIgnore = context.settings.respectGitignore !== "off" && !isLegacy(context);
  // At the same time; what is told first does not depend on which of them is quicker.
  const [inside, stats, isIgnored] = await Promise.all([
    assertPathInsideRoots(path, context.workspaceRoots).then(
      () => undefined,
      (cause: unknown) => ({ cause }),
    ),
    // What cannot be looked at is told when it is opened.
    stat(path).catch(() => undefined),
    obeysIgnore && context.resource(ignoreFilter).isIgnored(path),
  ]);
  if (inside !== undefined) throw inside.cause;
  if (stats?.isDirectory() === true) {
    return { ...invalid, text: `Error: ${argument} is a directory, not a file.`, reason: "is_a_directory" };
  }
  if (isIgnored) {
    const text = `Error: ${argument} is ignored by .gitignore, and ignored files are not edited.`;
    return { ...invalid, code: ErrorCode.PERMISSION_DENIED, text, reason: "ignored" };
  }
  return undefined;
}

/** The session knows now what the file holds. */
export async function rememberWrite(
  path: string,
  receipt: EditReceipt,
  context: ToolContext<unknown>,
): Promise<void> {
  // Gone again already: then there is nothing to compare later edits with.
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return;
  context.resource(fileReadTracker).record({ path, stats, sha256: receipt.after_sha256 });
}

/** Adds suggestions to the text of a missing file. The plain sentence is enough for the legacy version. */
export async function withMissingText(
  failure: EditFailure,
  named: ModelPath,
  context: ToolContext<unknown>,
): Promise<EditFailure> {
  if (failure.variant !== "FileNotFound") return failure;
  const scope = { ...context, roots: context.workspaceRoots, hints: context.settings.pathHints };
  return { ...failure, text: await missingPathText(named, scope) };
}

/** The failure that a thrown error means; throws the reason of the call's signal. */
export function toEditFailure(
  thrown: unknown,
  { display }: ModelPath,
  context: ToolContext<unknown>,
): EditFailure {
  const failure = {
    kind: "failure" as const,
    variant: "InvalidInput" as const,
    ...accessFailureOf(thrown, context.signal),
  };
  const why = thrown instanceof Error ? thrown.message : "unknown cause";
  const text = `Error: ${display} cannot be edited: ${why}`;
  if (failure.code === ErrorCode.PERMISSION_DENIED) {
    const denied =
      failure.reason === "outside_roots" ? "it is outside the allowed folders" : "permission denied";
    return { ...failure, text: `Error: ${display} cannot be edited: ${denied}.` };
  }
  if (failure.code === ErrorCode.FILE_EXTERNALLY_MODIFIED) {
    return { ...failure, text, suggestion: "read the file again and repeat the edit" };
  }
  // A folder of the path is a file, or went away.
  const isBrokenPath =
    failure.code === ErrorCode.FILE_NOT_FOUND || failure.code === ErrorCode.FILE_ALREADY_EXISTS;
  return { ...failure, text, code: isBrokenPath ? ErrorCode.INVALID_INPUT : failure.code };
}
