import { TriviumError } from "@trivium/core";
import type { RunProgram } from "../ports/program-port.ts";

const TIMEOUT_MS = 120_000;
const MAX_OUTPUT_BYTES = 128 * 1024 * 1024;
const MAX_QUOTED_CHARS = 300;

/** One run of git. */
export interface GitCall {
  readonly args: readonly string[];
  readonly folder: string;
  /** Further settings, such as {@link EXACT}. */
  readonly settings?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Exit codes that are answers. Default: 0. */
  readonly answers?: readonly number[];
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** What git answered. */
export interface GitAnswer {
  readonly exitCode: number;
  readonly stdout: Uint8Array;
}

/** Settings that hold whatever files of configuration say: no program is started, nothing is fetched. */
const SAFE = toParameters([
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "protocol.allow=never",
  "submodule.recurse=false",
]);

/** Settings under which bytes, modes and names are taken as they are. */
export const EXACT: readonly string[] = toParameters([
  "core.autocrlf=false",
  "core.safecrlf=false",
  "core.eol=lf",
  "core.fileMode=true",
  "core.symlinks=true",
  "core.ignoreCase=false",
  "core.precomposeUnicode=false",
  "core.protectNTFS=false",
  "core.protectHFS=false",
  "core.splitIndex=false",
  "core.sparseCheckout=false",
  "core.fsync=committed,reference",
  "core.fsyncMethod=batch",
]);

const ENVIRONMENT = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  LC_ALL: "C",
};

/** @throws TriviumError saying in one sentence why there is no answer; the reason of the signal */
export async function runGit(run: RunProgram, call: GitCall): Promise<GitAnswer> {
  const { args, folder, settings = [], environment = {}, input, answers = [0], signal } = call;
  const { exitCode, stdout, stderr } = await run({
    argv: ["git", ...SAFE, ...settings, ...args],
    workingDirectory: folder,
    environment: { ...ENVIRONMENT, ...environment },
    // The search path of `npx` leads into the project first.
    distrustedFolders: [folder],
    ...(input !== undefined && { input: Buffer.from(input) }),
    timeoutMs: call.timeoutMs ?? TIMEOUT_MS,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    signal,
  });
  if (answers.includes(exitCode)) return { exitCode, stdout };
  const said = stderr.trim().slice(0, MAX_QUOTED_CHARS).toWellFormed();
  throw new TriviumError("unavailable", `git ${args[0] ?? ""} failed: ${said || `exit code ${exitCode}`}`);
}

/** The items of an answer that ends each with a NUL. Names that are no UTF-8 are left out. */
export function splitNames(bytes: Uint8Array): string[] {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const names: string[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, start)) {
    try {
      names.push(decoder.decode(bytes.subarray(start, end)));
    } catch {
      // Nobody could name such a file in an answer, and it is left as it is.
    }
    start = end + 1;
  }
  return names;
}

/** The input that gives git names, whatever is in them. */
export function joinNames(names: Iterable<string>): string {
  return [...names].map((name) => `${name}\0`).join("");
}

function toParameters(settings: readonly string[]): string[] {
  return settings.flatMap((setting) => ["-c", setting]);
}
