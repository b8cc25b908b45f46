import { resolve } from "node:path";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { realDirectory } from "../execute/call-directory.ts";
import { isInsideRoots } from "../files/path-jail.ts";
import { shorten } from "../shorten.ts";
import { ToolError } from "../tool-error.ts";
import type { Child, ChildPlan } from "./child.ts";
import type { CoordinatorOptions } from "./coordinator-options.ts";
import { repositoryRoot } from "./repository-root.ts";
import { refused } from "./subagent-errors.ts";
import type { SubagentRunner } from "./subagent-runner.ts";
import type { SubagentRequest } from "./subagents.ts";
import { taskParameter } from "./task-parameter.ts";

/** What a request is checked against. */
export interface PlanContext extends Pick<CoordinatorOptions, "scope" | "types" | "limits"> {
  readonly runner: SubagentRunner;
  readonly children: ReadonlyMap<string, Child>;
}

const DEFAULT_TYPE = "general-purpose";

/**
 * Decides everything about a child before it starts.
 *
 * @throws {@link ToolError} for the first thing that is wrong.
 */
export async function planChild(request: SubagentRequest, context: PlanContext): Promise<ChildPlan> {
  const { scope, types, children } = context;
  const parent = request.promptId === undefined ? undefined : children.get(request.promptId);
  const depth = depthOf(parent, context);
  const id = request.id ?? scope.ids.timeOrderedUuid();
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id)) {
    throw refused(
      "invalid_id",
      "the id of a subagent is 1 to 128 letters, digits, dots, dashes and underscores",
    );
  }
  const source = sourceOf(request, context);
  const cwd = source === undefined ? await directoryOf(request, context) : undefined;
  const type = request.type ?? source?.type ?? DEFAULT_TYPE;
  const definition = await types.find(type, parent?.plan.definition.spawnTypes);
  if (source !== undefined) return await resumed({ id, request, definition, depth }, source, context);
  await checkModel(request.model, context.runner);
  const isolation = request.isolation ?? definition.isolation ?? "none";
  // A folder that was asked for says where to work, whatever the type prefers.
  const needsWorktree = isolation === "worktree" && cwd === undefined;
  if (needsWorktree) await checkWorktree(context);
  return {
    id,
    request,
    definition,
    directory: cwd,
    worktreePath: undefined,
    needsWorktree,
    model: request.model ?? definition.model,
    depth,
    startedAtMs: scope.clock.now(),
  };
}

function depthOf(parent: Child | undefined, { limits }: PlanContext): number {
  const depth = parent?.plan.depth ?? 0;
  if (depth >= limits.maxDepth) {
    throw refused(
      "depth_exceeded",
      `subagents can be started to a depth of ${limits.maxDepth}, and this call is at it`,
    );
  }
  if (parent !== undefined && (parent.end !== undefined || parent.signal.aborted)) {
    throw refused("parent_ended", `the subagent ${parent.id} is ending and can start no others`);
  }
  return depth + 1;
}

function sourceOf({ resumeFrom }: SubagentRequest, { children, scope }: PlanContext): Child | undefined {
  if (resumeFrom === undefined) return undefined;
  const source = children.get(resumeFrom);
  if (source === undefined) {
    throw refused(
      "resume_not_found",
      `there is no subagent ${shorten(resumeFrom)} to go on with; start one without ${taskParameter(scope, "resume_from")}`,
    );
  }
  if (source.end !== undefined) return source;
  throw refused("resume_running", `the subagent ${resumeFrom} still runs; go on with it when it has ended`);
}

/** A child that goes on with another works where that one did, with its model. */
async function resumed(
  plan: Pick<ChildPlan, "id" | "request" | "definition" | "depth">,
  source: Child,
  { scope }: PlanContext,
): Promise<ChildPlan> {
  if (plan.definition.name !== source.type) {
    throw refused(
      "resume_type",
      `the subagent ${source.id} is of type ${source.type} and cannot go on as ${plan.definition.name}`,
    );
  }
  const { directory, worktreePath } = source.place;
  if (directory !== undefined && (await realDirectory(directory)) === undefined) {
    throw refused("resume_workspace", `the folder of the subagent ${source.id} is gone: ${directory}`);
  }
  const { model } = source.plan;
  return { ...plan, directory, worktreePath, needsWorktree: false, model, startedAtMs: scope.clock.now() };
}

async function directoryOf(
  { cwd, isolation }: SubagentRequest,
  { scope }: PlanContext,
): Promise<string | undefined> {
  if (cwd === undefined) return undefined;
  const field = taskParameter(scope, "cwd");
  const path = resolve(scope.sessionDirectory, cwd);
  const directory = await realDirectory(path);
  if (isolation === "worktree") {
    // A folder that is not there cannot be meant.
    if (directory === undefined) return undefined;
    throw refused(
      "cwd_and_worktree",
      `give either ${field} or ${taskParameter(scope, "isolation")} worktree: a worktree is a folder of its own`,
    );
  }
  if (directory === undefined) {
    throw new ToolError(ErrorCode.INVALID_INPUT, `${field} ${path} is not an existing directory`, {
      filePath: path,
      details: { field },
    });
  }
  if (!isInsideRoots(directory, scope.workspaceRoots)) {
    throw new ToolError(ErrorCode.PERMISSION_DENIED, `${field} ${path} is outside the workspace roots`, {
      filePath: path,
      details: { reason: "outside_roots" },
    });
  }
  return directory;
}

async function checkModel(model: string | undefined, runner: SubagentRunner): Promise<void> {
  if (model === undefined) return;
  if (runner.acceptsModel === undefined) {
    throw new ToolError(
      ErrorCode.EXECUTION_FAILED,
      `the host of subagents cannot tell whether it has a model ${model}`,
      {
        suggestion: "Leave the model out.",
        details: { code: "validation_unavailable" },
      },
    );
  }
  if (await runner.acceptsModel(model)) return;
  throw refused("unknown_model", `subagents cannot use the model ${model}; leave it out for the usual one`);
}

async function checkWorktree({ scope }: PlanContext): Promise<void> {
  if ((await repositoryRoot(scope.sessionDirectory)) === undefined) {
    const what = `${taskParameter(scope, "isolation")} "worktree"`;
    throw refused(
      "no_repository",
      `${what} needs a git repository, and ${scope.sessionDirectory} is in none`,
    );
  }
  if (scope.workspaceRoots === undefined) return;
  // Its files would be outside of what the tools of this session may touch.
  throw refused(
    "worktree_confined",
    "worktrees cannot be used where tools.workspaceRoots confines the tools",
  );
}
