import { findConfig, findLocalProgram, type LinterConfig } from "./find-config.ts";
import { filesFor, type LintTarget, pathsFor } from "./lint-targets.ts";
import type { Linter } from "./linter.ts";
import { type LinterEnvironment, type LintResult, runLinter } from "./run-linter.ts";

/** What is to be linted. */
export interface LintRequest {
  readonly targets: readonly LintTarget[];
  /** Folder that holds all targets. */
  readonly folder: string;
  /** Folder up to which configurations count. It holds `folder`. */
  readonly top: string;
  /** Linters that may be used. */
  readonly linters: readonly Linter[];
  /** One of them was asked for by name. */
  readonly isNamed: boolean;
  /** Code of the project may run: linters that do so, and programs that the project has installed. */
  readonly mayRunProjectCode: boolean;
  /** Where programs must not come from when it may not. */
  readonly distrustedFolders: readonly string[];
}

interface Candidate {
  readonly linter: Linter;
  readonly config: LinterConfig | undefined;
}

/**
 * Runs linters, one after the other: for each language those that the project is configured for, else the first that
 * is installed.
 *
 * @returns nothing when no linter knows the files
 * @throws the reason of the signal
 */
export async function lint(request: LintRequest, environment: LinterEnvironment): Promise<LintResult[]> {
  const { folder, top, targets, isNamed } = request;
  const candidates = request.linters
    .filter((linter) => targets.some((target) => filesFor(linter, target).length > 0))
    .map((linter) => ({ linter, config: findConfig(linter, { folder, top }) }))
    .filter(({ linter, config }) => isNamed || config !== undefined || !linter.needsConfig);
  const results: LintResult[] = [];
  for (const language of new Set(candidates.map(({ linter }) => linter.language))) {
    const ofLanguage = candidates.filter(({ linter }) => linter.language === language);
    results.push(...(await lintLanguage(ofLanguage, request, environment)));
  }
  return results;
}

async function lintLanguage(
  candidates: readonly Candidate[],
  request: LintRequest,
  environment: LinterEnvironment,
): Promise<LintResult[]> {
  const results: LintResult[] = [];
  const hasAnswer = (): boolean => results.some(({ kind }) => kind === "checked" || kind === "failed");
  for (const candidate of candidates) {
    if (candidate.config !== undefined) results.push(await runCandidate(candidate, request, environment));
  }
  for (const candidate of candidates) {
    if (candidate.config !== undefined || hasAnswer()) continue;
    results.push(await runCandidate(candidate, request, environment));
  }
  // What nobody has configured is worth a word only when there is nothing better to say.
  return hasAnswer()
    ? results.filter(({ linter, kind }) => isAnswer(kind) || isConfigured(candidates, linter))
    : results;
}

async function runCandidate(
  { linter, config }: Candidate,
  { targets, folder: checked, top, mayRunProjectCode, ...request }: LintRequest,
  environment: LinterEnvironment,
): Promise<LintResult> {
  if (linter.runsProjectCode && !mayRunProjectCode) return { linter, kind: "left-out" };
  if (linter.needsConfig && config === undefined) {
    const message = `no configuration (${linter.configFiles[0] ?? linter.name}) for these paths; name paths inside of one project`;
    return { linter, kind: "failed", message };
  }
  const folder = config?.folder ?? checked;
  const job = { folder, configFile: config?.file, paths: pathsFor(linter, targets, folder) };
  const local = mayRunProjectCode ? await findLocalProgram(linter, { folder: checked, top }) : undefined;
  const distrustedFolders = mayRunProjectCode ? [] : request.distrustedFolders;
  return await runLinter(linter, { job, program: local ?? linter.program, distrustedFolders }, environment);
}

function isAnswer(kind: LintResult["kind"]): boolean {
  return kind === "checked" || kind === "failed";
}

function isConfigured(candidates: readonly Candidate[], linter: Linter): boolean {
  return candidates.some((candidate) => candidate.linter === linter && candidate.config !== undefined);
}
