import { rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { makeFolder } from "@trivium/core/node";
import { ErrorCode } from "@trivium/proto/grok-tools";
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
  /** What the session's folder is inside of it. */
  readonly directory: string;
}

/**
 * Checks the current commit out into the session's folder, for one child. It stays when the child has ended. Changes
 * that are not committed are not in it.
 *
 * @throws {@link ToolError} INVALID_INPUT outside a git repository, EXECUTION_FAILED when git fails; the reason of the
 * signal.
 */
export async function addWorktree(
  scope: WorktreeScope,
  childId: string,
  signal: AbortSignal,
): Promise<Worktree> {
  const { sessionDirectory, sessionFolder } = scope;
  const root = await repositoryOf(sessionDirectory);
  const folder = join(sessionFolder, "worktrees");
  await makeFolder(folder, 0o700);
  const path = join(folder, childId);
  try {
    await runGit(scope, ["-C", root, "worktree", "add", "--detach", "--quiet", path], signal);
  } catch (thrown) {
    // Half a checkout is of no use; git forgets a worktree whose folder is gone.
    await rm(path, { recursive: true, force: true });
    throw thrown;
  }
  return { path, directory: join(path, relative(root, sessionDirectory)) };
}

/**
 * The repository a worktree can be made from.
 *
 * @throws {@link ToolError} INVALID_INPUT outside of one.
 */
export async function repositoryOf(directory: string): Promise<string> {
  const root = await repositoryRoot(directory);
  if (root !== undefined) return root;
  const message = `isolation "worktree" needs a git repository, and ${directory} is in none`;
  throw new ToolError(ErrorCode.INVALID_INPUT, message, { details: { reason: "no_repository" } });
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
