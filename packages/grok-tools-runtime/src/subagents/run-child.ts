import { type Clock, sleep } from "@trivium/core";
import { settleWithin } from "../execute/settle-within.ts";
import type { ConfiguredTool } from "../finalize/configured-tool.ts";
import type { HostFacts } from "../finalize/template-scope.ts";
import type { SessionScope } from "../session-resource.ts";
import type { Child } from "./child.ts";
import { projectInstructions } from "./project-instructions.ts";
import { endOfFailure, endOfOutcome, type RunFacts } from "./subagent-end.ts";
import type { SubagentRun, SubagentRunner } from "./subagent-runner.ts";
import type { SubagentSession } from "./subagent-session.ts";
import type { SubagentEnd } from "./subagents.ts";
import { systemPrompt } from "./system-prompt.ts";
import { selectTools } from "./tool-selection/select-tools.ts";
import { addWorktree, type WorktreeScope } from "./worktree.ts";

/** Time a cancelled child has to end before it is recorded as ended. */
const CANCEL_GRACE_MS = 5_000;

/** What running a child uses of its session. */
export interface RunContext {
  readonly scope: WorktreeScope &
    Pick<SessionScope, "sessionId" | "logger" | "workspaceRoots"> & { readonly clock: Clock };
  readonly runner: SubagentRunner;
  /** All tools of the session. */
  readonly tools: readonly ConfiguredTool[];
  readonly host: HostFacts;
  readonly maxDepth: number;
  /** What children call tools on. */
  readonly session: SubagentSession;
}

/** Prepares a child, runs it, and tells how it ended. Never rejects. */
export async function runChild(child: Child, context: RunContext): Promise<SubagentEnd> {
  const { clock, logger } = context.scope;
  const startedMs = clock.monotonic();
  const facts = (): RunFacts => ({
    wasCancelled: child.signal.aborted,
    measuredMs: Math.round(clock.monotonic() - startedMs),
    worktreePath: child.place.worktreePath,
    outputCap: child.plan.request.outputCap,
  });
  try {
    const running = prepareAndRun(child, context);
    const limits = { signal: child.signal, graceMs: () => CANCEL_GRACE_MS, clock };
    return endOfOutcome(await settleWithin(running, limits), facts());
  } catch (thrown) {
    const end = endOfFailure(thrown, facts());
    if (end.status === "failed")
      logger.warn({ subagentId: child.id, cause: thrown }, "a subagent could not be run");
    return end;
  }
}

async function prepareAndRun(
  child: Child,
  context: RunContext,
): Promise<Awaited<ReturnType<SubagentRunner["run"]>>> {
  const { signal, plan } = child;
  const { scope, runner } = context;
  if (plan.needsWorktree) {
    const worktree = await addWorktree(scope, child.id, signal);
    child.place = { directory: worktree.directory, worktreePath: worktree.path };
  }
  const run = await toRun(child, context);
  signal.throwIfAborted();
  child.advance("running");
  return await runner.run(run, signal);
}

async function toRun(
  child: Child,
  { scope, tools, host, maxDepth, session }: RunContext,
): Promise<SubagentRun> {
  const { id, plan, place, description, type, signal } = child;
  const { request, definition, depth, model } = plan;
  const directory = place.directory ?? scope.sessionDirectory;
  const selected = selectTools(tools, definition, {
    capabilityMode: request.capabilityMode,
    maySpawn: depth < maxDepth,
  });
  return {
    id,
    prompt: request.prompt,
    description,
    type,
    parentSessionId: scope.sessionId,
    session,
    authorise: request.authorise,
    sessionDirectory: scope.sessionDirectory,
    parentPromptId: request.promptId,
    resumeFrom: request.resumeFrom,
    cwd: place.directory,
    systemPrompt: systemPrompt({ definition, tools: selected, directory, host }),
    toolNames: selected.map(({ clientName }) => clientName),
    initialUserMessage: definition.wantsInstructions
      ? await instructionsWithin(directory, scope, signal)
      : undefined,
    model,
    maxTurns: definition.maxTurns,
    onProgress: (progress) => child.report(progress),
  };
}

/** A file system that does not answer must not keep a child from running. */
const INSTRUCTIONS_MS = 30_000;

async function instructionsWithin(
  directory: string,
  { clock, workspaceRoots }: Pick<SessionScope, "clock" | "workspaceRoots">,
  signal: AbortSignal,
): Promise<string | undefined> {
  const waiting = new AbortController();
  const stop = (): void => waiting.abort();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const limit = sleep(clock, INSTRUCTIONS_MS, waiting.signal).catch(() => undefined);
    return await Promise.race([projectInstructions(directory, workspaceRoots), limit.then(() => undefined)]);
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}
