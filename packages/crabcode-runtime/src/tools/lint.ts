import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { lint } from "../lint/lint.ts";
import { type LintTarget, readTarget } from "../lint/lint-targets.ts";
import type { Linter } from "../lint/linter.ts";
import { linters } from "../lint/linters.ts";
import { lintData, renderLint } from "../lint/render-lint.ts";
import { isInside } from "../paths/is-inside.ts";
import type { RunProgram } from "../ports/program-port.ts";
import { defineTool, failed, type Tool, type ToolContext, type ToolOutcome } from "./tool.ts";

const MAX_PATHS = 100;

/** What the tool is made with. */
export interface LintToolOptions {
  readonly run: RunProgram;
  /** Folder of the session. */
  readonly cwd: string;
  /** The settings trust that folder: what it holds may be run without asking. */
  readonly isTrustedFolder: boolean;
}

const input = z.object({
  paths: z
    .array(z.string().min(1))
    .max(MAX_PATHS)
    .describe("Files and folders; the working directory if absent.")
    .optional(),
  linter: z
    .enum(linters.map(({ name }) => name))
    .describe("Only this one. Absent: those that are configured, else the first that is installed.")
    .optional(),
});

type Input = z.infer<typeof input>;

/**
 * Makes the tool that checks files with the linters of the machine and of the project.
 *
 * Many linters run code of what they check: configuration that is a program, plugins, build scripts, or a program of the
 * project itself. In a folder that is not trusted that happens only for a linter that is named, since the user is asked
 * about such a call; without a name only linters of the machine run that start nothing of the project. Outside of the
 * folder nothing of what is found there runs, trusted or not: permission to look there is not permission to run it.
 */
export function createLint(options: LintToolOptions): Tool {
  const { cwd, isTrustedFolder } = options;
  return defineTool({
    name: "Lint",
    description:
      "Checks files with the linters and type checkers that are installed, and changes nothing. tsc, clippy and golangci-lint check the whole project around the paths.",
    input,
    isReadOnly: true,
    isConcurrencySafe: true,
    target: ({ paths }) => ({ path: commonFolder(cwd, paths), isFolder: true }),
    opinion: ({ linter }) => (linter === undefined || isTrustedFolder ? "allow" : "ask"),
    run: (call, context) => runLint(call, context, options),
  });
}

async function runLint(
  { paths, linter: name }: Input,
  context: ToolContext,
  { run, cwd, isTrustedFolder }: LintToolOptions,
): Promise<ToolOutcome> {
  const { toolbox, targetPath = cwd, environment, signal } = context;
  const chosen = linters.filter((linter) => name === undefined || linter.name === name);
  const isOutside = !isInside(cwd, targetPath);
  if (isOutside && name !== undefined && chosen.some(({ runsProjectCode }) => runsProjectCode)) {
    return failed(`Error: ${name} would run code of ${targetPath}, which is outside of this folder`);
  }
  const targets: LintTarget[] = [];
  for (const path of paths === undefined || paths.length === 0 ? ["."] : paths) {
    const resolved = await toolbox.resolvePath(path);
    if (!isInside(targetPath, resolved)) {
      return failed(`Error: ${path} leads out of ${targetPath}; check it with a call of its own`);
    }
    try {
      targets.push(await readTarget(resolved, kindsOf(chosen), { toolbox, signal }));
    } catch (cause) {
      signal.throwIfAborted();
      return failed(
        `Error: ${path} cannot be checked: ${cause instanceof Error ? cause.message : "unknown"}`,
      );
    }
  }
  const folder = (await stat(targetPath)).isDirectory() ? targetPath : dirname(targetPath);
  const results = await lint(
    {
      targets,
      folder,
      top: isOutside ? folder : cwd,
      linters: chosen,
      isNamed: name !== undefined,
      mayRunProjectCode: !isOutside && (isTrustedFolder || name !== undefined),
      distrustedFolders: isOutside ? [cwd, folder] : [cwd],
    },
    { run, environment, signal },
  );
  if (results.length === 0) return failed(`Error: there is nothing that ${name ?? "a linter"} checks`);
  return {
    result: renderLint(results),
    isError: !results.some(({ kind }) => kind === "checked"),
    data: lintData(results),
  };
}

/** Each list of endings once. */
function kindsOf(chosen: readonly Linter[]): (readonly string[])[] {
  return [...new Map(chosen.map(({ extensions }) => [extensions.join(), extensions])).values()];
}

/** The path itself when it is one, else the folder that holds all of them as they are written. */
function commonFolder(cwd: string, paths: readonly string[] = []): string {
  const [first = ".", ...others] = paths;
  if (others.length === 0) return first;
  let folder = resolve(cwd, first);
  for (const path of others) while (!isInside(folder, resolve(cwd, path))) folder = dirname(folder);
  return folder;
}
