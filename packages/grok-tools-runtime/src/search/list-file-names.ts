import { isUtf8 } from "node:buffer";
import type { ProgramEnd } from "../process/program-runner.ts";
import { noGitRules } from "./ripgrep-arguments.ts";
import { ripgrepEnvironment, ripgrepProgram } from "./ripgrep-program.ts";
import type { SearchScope } from "./search-query.ts";

/** Which names ripgrep lists. */
export interface FileNameList {
  readonly scope: SearchScope;
  /** Leads to the folder, whatever its path means by now. */
  readonly openPath: string;
  readonly obeysGitIgnore: boolean;
  /** In the manner of ripgrep's `--glob`, in this order. */
  readonly globs: readonly string[];
  readonly maxBytes: number;
}

/** Names below the folder, hidden files included, in no order. */
export interface ListedFileNames {
  readonly names: readonly string[];
  /** How ripgrep ended; it was stopped when there were too many names. */
  readonly end: Pick<ProgramEnd, "reason" | "stderr">;
  readonly isCut: boolean;
}

/**
 * Lists the files below a folder with ripgrep.
 *
 * @throws what the program runner throws for a program that is missing; the reason of the signal.
 */
export async function listFileNames(list: FileNameList): Promise<ListedFileNames> {
  const { scope, openPath, obeysGitIgnore, globs, maxBytes } = list;
  const program = await scope.programRunner.run({
    argv: [
      await ripgrepProgram(scope.rgPath),
      "--no-config",
      "--files",
      "--null",
      "--hidden",
      ...(obeysGitIgnore ? [] : noGitRules),
      ...globs.map((glob) => `--glob=${glob}`),
      "./",
    ],
    workingDirectory: openPath,
    env: ripgrepEnvironment(scope),
    timeoutMs: scope.timeoutMs,
    signal: scope.signal,
  });
  const chunks: Uint8Array[] = [];
  let listedBytes = 0;
  for await (const chunk of program.stdout) {
    chunks.push(chunk);
    listedBytes += chunk.length;
    if (listedBytes > maxBytes) break;
  }
  const isCut = listedBytes > maxBytes;
  const end = isCut ? await program.stop() : await program.ended;
  scope.signal.throwIfAborted();
  return { names: namesIn(Buffer.concat(chunks)), end, isCut };
}

/** Names that are not UTF-8 cannot be written down, nor asked for: they are left out. */
function namesIn(listed: Buffer): string[] {
  const names = isUtf8(listed) ? listed.toString("utf8").split("\0") : utf8NamesIn(listed);
  // What is behind the last NUL is empty, or a name that was cut off.
  names.pop();
  return names.map((name) => name.replace(/^\.\//, ""));
}

function utf8NamesIn(listed: Buffer): string[] {
  // One byte, one character: what belongs together stays together.
  const names = listed.toString("latin1").split("\0");
  const last = names.pop() ?? "";
  const bytes = names.map((name) => Buffer.from(name, "latin1")).filter((name) => isUtf8(name));
  return [...bytes.map((name) => name.toString("utf8")), last];
}
