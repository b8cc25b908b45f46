import { stat } from "node:fs/promises";
import { ErrorCode } from "@trivium/proto/grok-tools";
import {
  type FileSetFailure,
  fileSetEditor,
  type MadeChange,
} from "../../../files/edit-engine/file-set-editor.ts";
import { sha256Of } from "../../../files/edit-engine/splice.ts";
import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import { ignoreFilter } from "../../../files/ignore/ignore-filter.ts";
import { decodeFile } from "../../../files/text-encoding.ts";
import { isJsonObject, type JsonObject } from "../../../json.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";
import {
  type ApplyPatchInput,
  type ApplyPatchParams,
  applyPatchInput,
  applyPatchOutput,
  applyPatchParams,
} from "./apply-patch-schemas.ts";
import { parsePatch } from "./parse-patch.ts";
import type { PatchOperation } from "./patch.ts";
import { accessFailure, fileFailure, type PatchFailure, patchFailureResult } from "./patch-failure.ts";
import { patchResult } from "./patch-result.ts";
import { PatchSyntaxError } from "./patch-syntax-error.ts";
import { type PatchTarget, type TargetedOperation, targetOf } from "./patch-target.ts";
import { type PlannedPatch, planPatch } from "./plan-patch.ts";

/** Codex:apply_patch: adds, updates, moves and deletes files by one patch, all or none. */
export const applyPatch: Tool = defineTool({
  id: "Codex:apply_patch",
  kind: "edit",
  capabilities: { readOnly: false },
  description: ({ params }) => `Changes files by a patch. Either the whole patch is applied or nothing of it.

The patch begins with the line \`*** Begin Patch\` and ends with the line \`*** End Patch\`. Between them stand file operations, each with a header and a path relative to the working directory:

- \`*** Add File: PATH\`, then the whole content with \`+\` before each line.${
    params.allow_overwrite ? "" : " The file must not exist."
  }
- \`*** Delete File: PATH\`, nothing else.
- \`*** Update File: PATH\`, then perhaps \`*** Move to: PATH\` to give the file another path, then chunks.

A chunk begins with \`@@\`, or with \`@@ \` and a line of the file (a function or class, for example) behind which its lines are looked for; several such lines narrow further. Then come lines with a space (context, stays), \`-\` (removed) or \`+\` (added) before them; give about three lines of context around a change. \`*** End of File\` behind a chunk ties it to the end of the file. Chunks follow the order of the file.

Example:

*** Begin Patch
*** Update File: src/greet.py
@@ def greet():
-    print("Hi")
+    print("Hello")
*** End Patch`,
  input: applyPatchInput,
  params: applyPatchParams,
  output: applyPatchOutput,
  resources: [fileReadTracker],
  specialiseInput: withoutAlias,
  run: runApplyPatch,
});

type PatchContext = ToolContext<ApplyPatchParams>;

async function runApplyPatch(input: ApplyPatchInput, context: PatchContext): Promise<ToolResult> {
  const parsed = parse(patchTextOf(input, context));
  if ("kind" in parsed) return patchFailureResult(parsed);
  const outcome = await apply(parsed, context);
  return outcome.kind === "failure" ? patchFailureResult(outcome) : patchResult(outcome.files);
}

function patchTextOf({ patch, input }: ApplyPatchInput, { parameterName }: PatchContext): string {
  if (patch !== undefined && input !== undefined) {
    const [name, alias] = [parameterName("patch"), parameterName("input")];
    throw ToolError.invalidField(alias, `\`${alias}\` is another name of \`${name}\`; give one of them`);
  }
  const text = patch ?? input;
  if (text === undefined) throw ToolError.missingField(parameterName("patch"));
  return text;
}

function parse(text: string): readonly PatchOperation[] | PatchFailure {
  try {
    const operations = parsePatch(text);
    if (operations.length > 0) return operations;
    const empty = "Invalid patch: it holds no file operation, so there is nothing to change";
    return { kind: "failure", variant: "EmptyPatch", code: ErrorCode.INVALID_INPUT, text: empty };
  } catch (thrown) {
    if (!(thrown instanceof PatchSyntaxError)) throw thrown;
    return {
      kind: "failure",
      variant: "ParseError",
      code: ErrorCode.INVALID_INPUT,
      text: thrown.message,
    };
  }
}

async function apply(
  operations: readonly PatchOperation[],
  context: PatchContext,
): Promise<PlannedPatch | PatchFailure> {
  const { workspaceRoots: roots, signal, workingDirectory } = context;
  const targeted: TargetedOperation[] = [];
  for (const operation of operations) targeted.push(await targetOf(operation, workingDirectory));
  const targets = targeted.flatMap(({ target, destination }) =>
    destination === undefined ? [target] : [target, destination],
  );
  const ignored = await ignoredOf(targets, context);
  if (ignored !== undefined) return ignored;
  const outcome = await context.resource(fileSetEditor).edit<PlannedPatch | PatchFailure>({
    paths: targets.map(({ path }) => path),
    names: targets.map(({ entry }) => entry),
    roots,
    signal,
    async decide(files) {
      const result = await planPatch(targeted, files, {
        allowOverwrite: context.params.allow_overwrite,
        readTool: context.toolName("read"),
        signal,
      });
      return { changes: result.kind === "planned" ? result.changes : [], result };
    },
  });
  if (outcome.kind === "failed") return takenBack(outcome, context);
  for (const made of outcome.changes) await remember(made, context);
  return outcome.result;
}

/** Where ignored files are off limits, no path of the patch may be one. */
async function ignoredOf(
  targets: readonly PatchTarget[],
  context: PatchContext,
): Promise<PatchFailure | undefined> {
  if (context.settings.respectGitignore !== "all") return undefined;
  for (const { path, named } of targets) {
    if (!(await context.resource(ignoreFilter).isIgnored(path))) continue;
    const text = `${named} is ignored by .gitignore, and ignored files are off limits here`;
    return fileFailure({ filePath: named, code: ErrorCode.PERMISSION_DENIED, reason: "ignored", text });
  }
  return undefined;
}

/** A change failed after others were made; those have been taken back as far as possible. */
function takenBack(
  { path, cause, restored, notRestored }: FileSetFailure,
  { signal }: PatchContext,
): PatchFailure {
  const failure = accessFailure(cause, path, signal);
  const rest =
    notRestored.length === 0
      ? "All files have the content they had before."
      : `Not all changes could be taken back; look at: ${notRestored.join(", ")}.`;
  return {
    ...failure,
    text: `${failure.text}. ${rest}`,
    details: { restored: [...restored], not_restored: [...notRestored] },
  };
}

/** Own edits count as reads, and observers of the session learn of them. */
async function remember({ change, before }: MadeChange, context: PatchContext): Promise<void> {
  const textBefore = before === undefined ? null : decodeFile(before.bytes);
  if (change.kind === "remove") {
    context.touched({
      access: "delete",
      path: change.name,
      content: { before: textBefore, after: "" },
    });
    return;
  }
  const { path, content } = change;
  // Gone again already: then there is nothing to compare later edits with.
  const stats = await stat(path).catch(() => undefined);
  if (stats !== undefined) {
    context.resource(fileReadTracker).record({ path, stats, sha256: sha256Of(content) });
  }
  context.touched({ access: "write", path, content: { before: textBefore, after: decodeFile(content) } });
}

/** The alias is accepted but not advertised. */
function withoutAlias(schema: JsonObject): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties)) return schema;
  const { input: _alias, ...advertised } = properties;
  return { ...schema, properties: advertised, required: ["patch"] };
}
