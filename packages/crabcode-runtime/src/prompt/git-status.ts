import type { Logger } from "@trivium/core";
import { runGit, splitNames } from "../git/run-git.ts";
import type { RunProgram } from "../ports/program-port.ts";

const TIMEOUT_MS = 5_000;
/** Of the changes, and of the commits. */
const MAX_STATUS_CHARS = 2_000;
const COMMIT_COUNT = 5;

/** How a session learns the state of the repository around its folder. */
export interface GitStatusDeps {
  /** Absent: no program can be run. */
  readonly run: RunProgram | undefined;
  readonly cwd: string;
  readonly logger: Logger;
}

/**
 * Branch, changed files and newest commits of the repository around a folder, as text for a model. Undefined outside
 * repositories and where git does not answer in time.
 */
export async function readGitStatus({ run, cwd, logger }: GitStatusDeps): Promise<string | undefined> {
  if (run === undefined) return undefined;
  try {
    const call = {
      folder: cwd,
      settings: SETTINGS,
      environment: await withoutFilters(run, cwd),
      timeoutMs: TIMEOUT_MS,
      // No repository; a repository without commits has no log.
      answers: [0, 128],
    };
    const [status, log] = await Promise.all([
      runGit(run, { ...call, args: STATUS }),
      runGit(run, { ...call, args: LOG }),
    ]);
    if (status.exitCode !== 0) return undefined;
    const [branch = "", ...changes] = textOf(status.stdout).split("\n");
    const changed = changes.length === 0 ? "(clean)" : cut(changes.join("\n"), "status");
    const commits = log.exitCode === 0 ? cut(textOf(log.stdout), "log") : "(none)";
    return `Branch: ${branch.replace(/^## /, "")}\nStatus:\n${changed}\nRecent commits:\n${commits}`;
  } catch (cause) {
    logger.debug({ cwd, cause }, "the state of the repository is not known");
    return undefined;
  }
}

/** Paths from the session's folder on, without colours. */
const SETTINGS = ["-c", "status.relativePaths=true", "-c", "color.status=false"];
const STATUS = ["status", "--short", "--branch", "--no-ahead-behind", "--ignore-submodules=all"];
const LOG = ["log", `-${COMMIT_COUNT}`, "--oneline", "--no-decorate", "--no-show-signature", "--no-color"];

/**
 * Looking at a file may run its filter. Those that the repository itself names are commands that came with it; nobody
 * has allowed them.
 */
async function withoutFilters(run: RunProgram, cwd: string): Promise<Record<string, string>> {
  const args = ["config", "--show-scope", "--null", "--name-only", "--get-regexp", "^filter\\."];
  const { stdout } = await runGit(run, {
    args,
    folder: cwd,
    timeoutMs: TIMEOUT_MS,
    answers: [0, 1, 128],
  });
  const items = splitNames(stdout);
  const keys = items.filter((_, at) => at % 2 === 1 && !TRUSTED_SCOPES.has(items[at - 1] ?? ""));
  const variables: Record<string, string> = { GIT_CONFIG_COUNT: String(keys.length) };
  for (const [index, key] of keys.entries()) {
    variables[`GIT_CONFIG_KEY_${index}`] = key;
    variables[`GIT_CONFIG_VALUE_${index}`] = key.endsWith(".required") ? "false" : "";
  }
  return variables;
}

/** Files of the machine and of the user. */
const TRUSTED_SCOPES: ReadonlySet<string> = new Set(["system", "global"]);

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).trimEnd();
}

function cut(text: string, command: "status" | "log"): string {
  if (text.length <= MAX_STATUS_CHARS) return text;
  return `${text.slice(0, MAX_STATUS_CHARS).toWellFormed()}\n[cut; run git ${command} for all]`;
}
