import { mkdir, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { makeFolder } from "@trivium/core/node";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { realDirectory } from "../execute/call-directory.ts";
import { systemCodeOf } from "../file-error.ts";
import type { SessionScope } from "../session-resource.ts";
import { buildShellEnvironment } from "../shell/shell-environment.ts";
import { shorten } from "../shorten.ts";
import { ToolError } from "../tool-error.ts";
import { repositoryRoot } from "./repository-root.ts";

/** Checking out a large repository takes its time. */
const TIMEOUT_MS = 300_000;

/** What making a worktree uses of a session. */
export type WorktreeScope = Pick<
  SessionScope,
  "sessionDirectory" | "sessionFolder" | "programRunner" | "environment" | "settings" | "secretVariables"
>;

/** A worktree of its own. */
export interface Worktree {
  /** Top of the checkout. */
  readonly path: string;
  /** What the session's folder is inside of it; the top when no commit has that folder. */
  readonly directory: string;
}

/** Where the worktrees of a session are. */
export function worktreeFolder(sessionFolder: string): string {
  return join(sessionFolder, "worktrees");
}

/**
 * Checks the current commit out into the session's folder, for one child. It stays when the child has ended. Changes
 * that are not committed are not in it.
 *
 * @throws {@link ToolError} INVALID_INPUT outside a git repository and when there is a worktree of this id,
 * EXECUTION_FAILED when git fails; the reason of the signal.
 */
export async function addWorktree(
  scope: WorktreeScope,
  childId: string,
  signal: AbortSignal,
): Promise<Worktree> {
  const { sessionDirectory, sessionFolder } = scope;
  const root = await repositoryRoot(sessionDirectory);
  if (root === undefined) {
    const message = `a worktree needs a git repository, and ${sessionDirectory} is in none`;
    throw new ToolError(ErrorCode.INVALID_INPUT, message, { details: { reason: "no_repository" } });
  }
  const folder = worktreeFolder(sessionFolder);
  await makeFolder(folder, 0o700);
  const path = join(folder, childId);
  await claim(path, childId);
  try {
    await runGit(scope, ["-C", root, "worktree", "add", "--detach", "--quiet", path], signal);
  } catch (thrown) {
    // Half a checkout is of no use; git forgets a worktree whose folder is gone.
    await rm(path, { recursive: true, force: true });
    throw thrown;
  }
  const directory = join(path, relative(root, sessionDirectory));
  return { path, directory: (await realDirectory(directory)) ?? path };
}

/** Makes the folder, which tells it from that of an earlier life of the session: there may be work in it. */
async function claim(path: string, childId: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (cause) {
    if (systemCodeOf(cause) !== "EEXIST") throw cause;
    const message = `there is a worktree of an earlier subagent ${childId} at ${path}; give another id, or none`;
    throw new ToolError(ErrorCode.INVALID_INPUT, message, { details: { reason: "duplicate_id" } });
  }
}

async function runGit(
  { programRunner, environment, settings, secretVariables, sessionDirectory }: WorktreeScope,
  args: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const program = await programRunner.run({
    // Hooks of the repository are commands that nobody here has asked for.
    argv: ["git", "-c", "core.hooksPath=/dev/null", ...args],
    workingDirectory: sessionDirectory,
    env: buildShellEnvironment({ server: environment, policy: settings.environment, secretVariables }),
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  // Nothing is printed that is needed; an unread pipe would hold git up.
  for await (const _chunk of program.stdout);
  const { reason, exitCode, stderr } = await program.ended;
  signal.throwIfAborted();
  if (reason === "exited" && exitCode === 0) return;
  const said = shorten(new TextDecoder().decode(stderr).trim(), 500) || `git ended (${reason}, ${exitCode})`;
  throw new ToolError(ErrorCode.EXECUTION_FAILED, `no worktree could be made: ${said}`, {
    details: { code: "worktree_failed" },
  });
}
