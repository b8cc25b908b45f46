import { stat } from "node:fs/promises";
import { sep } from "node:path";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { accessFailureOf } from "../../../files/access-failure.ts";
import { type EditReceipt, editEngine } from "../../../files/edit-engine/edit-engine.ts";
import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import { ignoreFilter } from "../../../files/ignore/ignore-filter.ts";
import { type ModelPath, toModelPath } from "../../../files/model-path.ts";
import { assertPathInsideRoots } from "../../../files/path-jail.ts";
import { missingPathText } from "../../../files/path-suggestions.ts";
import { resolveTarget } from "../../../files/resolve-target.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { type AppliedEdit, decideEdit } from "./decide-edit.ts";
import { type EditFailure, editFailureResult } from "./edit-failure.ts";
import { editResult } from "./edit-result.ts";
import {
  type SearchReplaceInput,
  type SearchReplaceParams,
  searchReplaceInput,
  searchReplaceParams,
} from "./search-replace-input.ts";
import { searchReplaceOutput } from "./search-replace-output.ts";

/** GrokBuild:search_replace: exact replacement of text in one file, or a new file. */
export const searchReplace: Tool = defineTool({
  id: "GrokBuild:search_replace",
  kind: "edit",
  capabilities: { readOnly: false },
  behaviorVersions: [
    { version: "current", lifecycle: "active" },
    { version: "legacy-0.4.10", lifecycle: "active" },
  ],
  description: ({ params }) => `Replaces text in a file.

- \`\${{ params.edit.old_string }}\` must occur exactly once, character for character, unless \`\${{ params.edit.replace_all }}\` is set. Leave out the \`N→\` anchors that \${{ tools.by_kind.read }} prints.
- Neither text is a pattern. The file keeps its line endings, encoding and everything around the replaced text.
- An empty \`\${{ params.edit.old_string }}\` creates the file with its folders${
    params.empty_old_string_does_not_override ? "; a file that has content is never overwritten this way" : ""
  }.`,
  input: searchReplaceInput,
  params: searchReplaceParams,
  output: searchReplaceOutput,
  resources: [fileReadTracker],
  requires: ({ params, toolset }) => {
    if (!toolset.hasKindWithInputs("edit", ["old_string", "new_string", "replace_all"])) {
      return { message: "a tool of kind edit needs the inputs old_string, new_string and replace_all" };
    }
    if (params.skip_read_before_edit || toolset.hasKind("read")) return undefined;
    return {
      message: "editing needs a tool that reads files, so that the model knows what it replaces",
      fieldPath: "params.skip_read_before_edit",
      expected: "true, or a reading tool such as read_file in the toolset",
    };
  },
  run: runSearchReplace,
});

/** Longest name of a file or folder that file systems take. */
const MAX_NAME_BYTES = 255;

type EditContext = ToolContext<SearchReplaceParams>;

/** Replaces text in one file. Shared with the concise sibling. */
export async function runSearchReplace(input: SearchReplaceInput, context: EditContext): Promise<ToolResult> {
  const named = toModelPath(input.file_path, context);
  const path = await resolveTarget(named.path);
  const outcome = await edit(input, path, context).catch((thrown: unknown) =>
    toEditFailure(thrown, named, context),
  );
  if (outcome.kind === "failure") {
    const failure = await withMissingText(outcome, named, context);
    return editFailureResult(failure, path, isLegacy(context));
  }
  return outcome.result;
}

function isLegacy(context: EditContext): boolean {
  return context.behaviorVersion === "legacy-0.4.10";
}

async function edit(
  input: SearchReplaceInput,
  path: string,
  context: EditContext,
): Promise<EditFailure | { readonly kind: "done"; readonly result: ToolResult }> {
  const refusal = await refuseByPath(input, path, context);
  if (refusal !== undefined) return refusal;
  const outcome = await context.resource(editEngine).edit<EditFailure | AppliedEdit>({
    path,
    roots: context.workspaceRoots,
    signal: context.signal,
    decide(current) {
      const decision = decideEdit(current, { input, path, context });
      return { write: decision.kind === "failure" ? undefined : decision.content, result: decision };
    },
  });
  const { result, receipt } = outcome;
  if (result.kind === "failure" || receipt === undefined)
    return result.kind === "failure" ? result : neverHappens();
  await rememberWrite(path, receipt, context);
  return { kind: "done", result: editResult({ input, path, receipt, applied: result }) };
}

/** Checks 1 to 4: the name, what is there, the ignore rules, and whether the texts differ. */
async function refuseByPath(
  input: SearchReplaceInput,
  path: string,
  context: EditContext,
): Promise<EditFailure | undefined> {
  const invalid = { kind: "failure", variant: "InvalidInput", code: ErrorCode.INVALID_INPUT } as const;
  if (path.split(sep).some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) {
    const text = `Error: a name in ${input.file_path} is longer than ${MAX_NAME_BYTES} bytes.`;
    return { ...invalid, variant: "FilenameTooLong", text };
  }
  await assertPathInsideRoots(path, context.workspaceRoots);
  // What cannot be looked at is told when it is opened.
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isDirectory() === true) {
    return {
      ...invalid,
      text: `Error: ${input.file_path} is a directory, not a file.`,
      reason: "is_a_directory",
    };
  }
  const obeysIgnore = context.settings.respectGitignore !== "off" && !isLegacy(context);
  if (obeysIgnore && (await context.resource(ignoreFilter).isIgnored(path))) {
    const text = `Error: ${input.file_path} is ignored by .gitignore, and ignored files are not edited.`;
    return { ...invalid, code: ErrorCode.PERMISSION_DENIED, text, reason: "ignored" };
  }
  if (input.old_string === input.new_string) {
    const names = `\`${context.parameterName("old_string")}\` and \`${context.parameterName("new_string")}\``;
    return { ...invalid, text: `Error: ${names} are the same, so there is nothing to change.` };
  }
  return undefined;
}

function neverHappens(): never {
  throw new TypeError("a decision to write has a receipt");
}

async function rememberWrite(path: string, receipt: EditReceipt, context: EditContext): Promise<void> {
  // Gone again already: then there is nothing to compare later edits with.
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return;
  context.resource(fileReadTracker).record({ path, stats, sha256: receipt.after_sha256 });
}

/** The plain sentence is enough for the legacy version. */
async function withMissingText(
  failure: EditFailure,
  named: ModelPath,
  context: EditContext,
): Promise<EditFailure> {
  if (failure.variant !== "FileNotFound") return failure;
  const scope = { ...context, roots: context.workspaceRoots, hints: context.settings.pathHints };
  return { ...failure, text: await missingPathText(named, scope) };
}

function toEditFailure(thrown: unknown, { display }: ModelPath, context: EditContext): EditFailure {
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
