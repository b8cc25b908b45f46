import { TriviumError } from "@trivium/core";
import type { ProgramResult, RunProgram } from "../ports/program-port.ts";
import type { Linter, LintJob } from "./linter.ts";

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;
const MAX_QUOTED_CHARS = 2000;

/** What became of one linter. */
export type LintResult = { readonly linter: Linter } & (
  | {
      readonly kind: "checked";
      readonly issueCount: number;
      /** As the linter says it. */
      readonly text: string;
      /** Exit code when the linter gave up before its end. */
      readonly cutBy: number | undefined;
    }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "missing" }
  | { readonly kind: "left-out" }
);

/** What linters are run with. */
export interface LinterEnvironment {
  readonly run: RunProgram;
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** How a linter is started. */
export interface LinterStart {
  readonly job: LintJob;
  /** A path, or a name for the search path. */
  readonly program: string;
  /** Folders that nothing may be started from. */
  readonly distrustedFolders: readonly string[];
}

/**
 * Runs a linter to its end.
 * @throws the reason of the signal; what no program is to blame for
 */
export async function runLinter(
  linter: Linter,
  { job, program, distrustedFolders }: LinterStart,
  { run, environment, signal }: LinterEnvironment,
): Promise<LintResult> {
  try {
    const result = await run({
      argv: [program, ...linter.args(job)],
      workingDirectory: job.folder,
      environment,
      distrustedFolders,
      timeoutMs: TIMEOUT_MS,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      signal,
    });
    return judge(linter, result);
  } catch (cause) {
    if (signal.aborted || !TriviumError.isInstance(cause)) throw cause;
    return cause.kind === "notFound"
      ? { linter, kind: "missing" }
      : { linter, kind: "failed", message: cause.message };
  }
}

function judge(linter: Linter, { exitCode, stdout, stderr }: ProgramResult): LintResult {
  const printed = new TextDecoder().decode(stdout);
  const text = linter.output === "stdout" ? printed : stderr;
  const issueCount = text.split("\n").filter((line) => linter.issue.test(line)).length;
  // Silence is good news only from a linter that says it has succeeded.
  if (issueCount === 0 && exitCode !== 0) {
    const said = `${stderr.trim()}\n${printed.trim()}`.trim().slice(0, MAX_QUOTED_CHARS).toWellFormed();
    return { linter, kind: "failed", message: `exit code ${exitCode}${said === "" ? "" : `\n${said}`}` };
  }
  const cutBy = linter.isFinished(exitCode) ? undefined : exitCode;
  return { linter, kind: "checked", issueCount, text: text.trim(), cutBy };
}
