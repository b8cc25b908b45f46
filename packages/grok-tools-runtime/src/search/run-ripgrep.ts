import { dirname } from "node:path";
import { TriviumError } from "@trivium/core";
import { type RipgrepMode, ripgrepArguments } from "./ripgrep-arguments.ts";
import { ripgrepEnvironment, ripgrepProgram } from "./ripgrep-program.ts";
import type { SearchEnd, SearchQuery, SearchScope } from "./search-query.ts";

/** Takes output as it comes. */
export interface OutputReader {
  /** False: enough was read, the program may end. */
  push(chunk: Uint8Array): boolean;
}

/** One run. */
export interface RipgrepRun {
  readonly query: SearchQuery;
  readonly mode: Omit<RipgrepMode, "usesPcre2">;
  readonly scope: SearchScope;
}

/**
 * Runs ripgrep and feeds its output to a reader; a pattern that only the other engine understands is run again with
 * it. `createReader` makes the reader of each run.
 *
 * @throws {@link TriviumError} `notFound` when there is no ripgrep, `unavailable` when the helper process is gone; the
 * reason of the signal.
 */
export async function runRipgrep<Reader extends OutputReader>(
  run: RipgrepRun,
  createReader: () => Reader,
): Promise<{ readonly end: SearchEnd; readonly reader: Reader }> {
  const first = createReader();
  const end = await runOnce(run, { usesPcre2: false, reader: first });
  // Ripgrep says itself when the other engine would help.
  if (!end.isInvalid || !end.stderr.includes("--pcre2")) return { end, reader: first };
  const second = createReader();
  return { end: await runOnce(run, { usesPcre2: true, reader: second }), reader: second };
}

interface Attempt {
  readonly usesPcre2: boolean;
  readonly reader: OutputReader;
}

async function runOnce(
  { query, mode, scope }: RipgrepRun,
  { usesPcre2, reader }: Attempt,
): Promise<SearchEnd> {
  const { root } = query;
  const program = await scope.programRunner.run({
    argv: [await ripgrepProgram(scope.rgPath), ...ripgrepArguments(query, { ...mode, usesPcre2 })],
    workingDirectory: root.isFile ? dirname(root.path) : root.openPath,
    env: ripgrepEnvironment(scope),
    timeoutMs: scope.timeoutMs,
    signal: scope.signal,
  });
  let isTruncated = false;
  let hasOutput = false;
  for await (const chunk of program.stdout) {
    hasOutput = true;
    if (reader.push(chunk)) continue;
    isTruncated = true;
    break;
  }
  const { reason, exitCode, stderr: complaint } = isTruncated ? await program.stop() : await program.ended;
  scope.signal.throwIfAborted();
  if (reason === "helper-lost")
    throw new TriviumError("unavailable", "the process that searches files is gone");
  const stderr = Buffer.from(complaint).toString("utf8");
  const isTimedOut = reason === "timed-out";
  return {
    exitCode: isTruncated ? 0 : isTimedOut ? -1 : (exitCode ?? -1),
    stderr,
    isInvalid: exitCode === 2 && !hasOutput && isAboutTheQuery(stderr),
    isTimedOut,
    isTruncated,
    engine: usesPcre2 ? "pcre2" : "ripgrep",
  };
}

/** What ripgrep 15 says about a wrong pattern, glob or type; everything else is about files. */
function isAboutTheQuery(stderr: string): boolean {
  return /regex parse error|error parsing glob|unrecognized file type|is not allowed in a regex|PCRE2: error|compiled regex exceeds|--pcre2/i.test(
    stderr,
  );
}
