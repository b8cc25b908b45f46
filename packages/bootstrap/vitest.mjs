import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run } from "./run.mjs";

/** More than that is no accident of a busy machine. */
const MAX_REPEATED_FILES = 5;

/**
 * Runs the tests of these projects and prints how many passed, failed and were skipped.
 *
 * The whole suite keeps every processor busy for minutes, with hundreds of processes. Files with failures, if they are
 * few, run once more, one at a time: what fails again has failed; what passes then is named, so that it can be mended.
 *
 * @param {{ root: string, projects: readonly string[], env: Record<string, string> }} suite
 */
export async function runVitest({ root, projects, env }) {
  const folder = mkdtempSync(join(tmpdir(), "trivium-report-"));
  const options = { root, env };
  const choice = projects.flatMap((project) => ["--project", project]);
  try {
    const first = await vitest(choice, { ...options, report: join(folder, "first.json") });
    const failed = first.report?.testResults.filter(({ status }) => status === "failed") ?? [];
    const unsteady = failed.flatMap(failuresOf);
    const mayRepeat = unsteady.length > 0 && failed.length <= MAX_REPEATED_FILES;
    if (first.error === undefined || !mayRepeat) {
      summarise(first.report, first.report?.numFailedTests ?? 0);
      if (first.error !== undefined) throw first.error;
      return;
    }
    const files = failed.map(({ name }) => relative(root, name));
    console.log(`running again, one at a time: ${files.join(", ")}`);
    const alone = [...files, ...choice, "--no-file-parallelism"];
    const second = await vitest(alone, { ...options, report: join(folder, "second.json") });
    if (second.error === undefined) {
      for (const name of unsteady) console.log(`UNSTEADY, passed when run again: ${name}`);
    }
    const failedCount = second.error === undefined ? 0 : (second.report?.numFailedTests ?? unsteady.length);
    summarise(first.report, failedCount);
    if (second.error !== undefined) throw second.error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function vitest(parameters, { root, env, report }) {
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const error = await run("vitest", ["run", ...reporters, ...parameters], { root, env }).then(
    () => undefined,
    (cause) => cause,
  );
  return { error, report: existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : undefined };
}

/** Names of the tests of a file that failed; a file that failed as a whole has none. */
function failuresOf({ assertionResults }) {
  return assertionResults.filter(({ status }) => status === "failed").map(({ fullName }) => fullName);
}

function summarise(report, failedCount) {
  if (report === undefined) return;
  const { numTotalTests, numPendingTests, numTodoTests } = report;
  const skipped = numPendingTests + numTodoTests;
  console.log(`${numTotalTests - failedCount - skipped} passed, ${failedCount} failed, ${skipped} skipped`);
}
