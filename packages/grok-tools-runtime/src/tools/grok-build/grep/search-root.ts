import { ErrorCode } from "@trivium/proto/grok-tools";
import { accessFailureOf } from "../../../files/access-failure.ts";
import { ignoreFilter } from "../../../files/ignore/ignore-filter.ts";
import type { ModelPath } from "../../../files/model-path.ts";
import { isNotRegular } from "../../../files/open-file.ts";
import { missingPathText } from "../../../files/path-suggestions.ts";
import { readableRoots } from "../../../files/session-roots.ts";
import { type OpenSearchRoot, openSearchRoot } from "../../../search/open-search-root.ts";
import type { ToolContext } from "../../../tool.ts";
import type { GrepFailure } from "./grep-failure.ts";

/** A root that can be searched, to be disposed afterwards, or why not. */
export type CheckedRoot =
  | { readonly kind: "root"; readonly root: OpenSearchRoot }
  | ({ readonly kind: "failure" } & GrepFailure);

/** Checks the path of a search before anything is started: pipes would block, folders may be off limits. */
export async function checkSearchRoot(named: ModelPath, context: ToolContext<unknown>): Promise<CheckedRoot> {
  const { path, display } = named;
  const roots = readableRoots(context);
  try {
    const root = await openSearchRoot(path, roots);
    if (
      context.settings.respectGitignore === "all" &&
      (await context.resource(ignoreFilter).isIgnored(root.path))
    ) {
      await root[Symbol.asyncDispose]();
      return refusal(
        `Error: ${display} is ignored by .gitignore, and ignored files are off limits here.`,
        path,
        {
          code: ErrorCode.PERMISSION_DENIED,
          reason: "ignored",
        },
      );
    }
    return { kind: "root", root };
  } catch (thrown) {
    const failure = accessFailureOf(thrown, context.signal);
    if (isNotRegular(thrown)) {
      return refusal(`Error: ${display} is neither a file nor a folder.`, path, failure);
    }
    if (failure.code === ErrorCode.FILE_NOT_FOUND) {
      const scope = { ...context, roots, hints: context.settings.pathHints };
      return refusal(await missingPathText(named, scope), path, failure);
    }
    const why =
      failure.reason === "outside_roots" ? "it is outside the allowed folders" : "it cannot be opened";
    return refusal(`Error: ${display} cannot be searched: ${why}.`, path, failure);
  }
}

function refusal(
  text: string,
  filePath: string,
  failure: { readonly code: ErrorCode; readonly reason?: string | undefined },
): CheckedRoot {
  return { kind: "failure", text, exitCode: 2, failure: { ...failure, filePath } };
}
