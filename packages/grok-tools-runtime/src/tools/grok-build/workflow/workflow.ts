import { basename } from "node:path";
import { linkSignals } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import { shorten } from "../../../shorten.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";
import { checkScript } from "../../../workflow/check-script.ts";
import { findScript, MAX_SCRIPT_BYTES, readScript } from "../../../workflow/find-script.ts";
import { readScriptMeta } from "../../../workflow/script-meta.ts";
import { WorkflowChildren } from "../../../workflow/workflow-children.ts";
import type { WorkflowEnd, WorkflowEngine } from "../../../workflow/workflow-engine.ts";
import { invalidWorkflow } from "../../../workflow/workflow-error.ts";
import { WorkflowRun, type WorkflowScript, workflowRuns } from "../../../workflow/workflow-run.ts";
import { type WorkflowInput, workflowInput } from "./workflow-input.ts";

/** GrokBuild:workflow: a script that lets several subagents work together. */
export const workflow: Tool = defineTool({
  id: "GrokBuild:workflow",
  kind: "workflow",
  capabilities: { readOnly: false, cancellable: true, unlimitedCalls: true },
  description: `Runs a JavaScript program that starts subagents and puts their answers together. The call ends when the program has ended.

- \`await agent(prompt, { description, type, model, isolation })\` runs one subagent and gives its answer as text; it throws when the subagent fails.
- \`await parallel([prompt or { prompt, type, … }, …])\` runs several at once and gives \`[{ status, output, error }, …]\` in the same order.
- \`args\` is the value you pass as \`\${{ params.workflow.args }}\`; \`text(value)\` adds to the result of the run. There are no files, no network and no modules.
- A program may begin with \`const meta = { name: "…", description: "…" };\`.
- Give one of \`\${{ params.workflow.name }}\`, \`\${{ params.workflow.script }}\` and \`\${{ params.workflow.script_path }}\`. To go on with a run that failed or was cancelled give only its \`\${{ params.workflow.resume_from_run_id }}\`: subagents that had completed are not asked again.`,
  input: workflowInput,
  output: {
    schema: z.object({
      type: z.literal("Workflow"),
      run_id: z.string(),
      task_id: z.string(),
      name: z.string(),
      script_path: z.string().optional(),
      message: z.string(),
    }),
    fields: [
      { name: "run_id", description: "Id of the run; empty when it was only checked.", type: "string" },
      { name: "task_id", description: "The same.", type: "string" },
      { name: "name", description: "Name of the workflow.", type: "string" },
      { name: "script_path", description: "Its file, absolute.", type: "string" },
      { name: "message", description: "What the run has put out.", type: "string", potentiallyLarge: true },
    ],
  },
  resources: [workflowRuns],
  dependency: {
    name: "workflow_engine",
    setting: "tools.workflow",
    isConfigured: ({ workflow: isOn }) => isOn,
    suggestion: "Switch the setting tools.workflow on; it needs the code-mode service of the server.",
  },
  run: runWorkflow,
});

type WorkflowContext = ToolContext<undefined>;

async function runWorkflow(input: WorkflowInput, context: WorkflowContext): Promise<ToolResult> {
  const engine = engineOf(context);
  const { promptId, subagents } = context;
  if (promptId !== undefined && subagents.get(promptId) !== undefined) {
    throw invalidWorkflow("a subagent cannot run workflows", {}, "workflow_depth_exceeded");
  }
  const resumed = resumedRun(input, context);
  const script = resumed?.script ?? (await scriptOf(input, context));
  if (input.validate_only) return await validate(engine, script, context);
  const run = new WorkflowRun(context.ids.timeOrderedUuid(), script, resumed);
  context.resource(workflowRuns).add(run);
  const end = await execute(engine, run, context).finally(() => {
    run.isRunning = false;
  });
  if (end.errorText !== undefined) throw failed(run, end.errorText, context);
  return answer(
    run.runId,
    script,
    end.output === "" ? "The workflow has ended without a result." : end.output,
  );
}

function engineOf({ workflowEngine }: WorkflowContext): WorkflowEngine {
  if (workflowEngine !== undefined) return workflowEngine;
  throw new ToolError(ErrorCode.INTERNAL, "the server says that it runs workflows, but has no engine", {
    details: { code: "missing_resource" },
  });
}

function resumedRun(input: WorkflowInput, context: WorkflowContext): WorkflowRun | undefined {
  const { name, script, script_path, resume_from_run_id: runId } = input;
  const sources = [name, script, script_path].filter((source) => source !== undefined).length;
  const names = (["name", "script", "script_path"] as const).map(context.parameterName).join(", ");
  const field = context.parameterName("resume_from_run_id");
  if (runId === undefined) {
    if (sources === 1) return undefined;
    throw invalidWorkflow(`give exactly one of ${names}, or ${field}; ${sources} were given`);
  }
  if (sources > 0) throw invalidWorkflow(`with ${field} give none of ${names}`);
  const runs = context.resource(workflowRuns);
  const run = runs.get(runId.trim());
  if (run === undefined) {
    const known = runs.list();
    const there = known.length === 0 ? "there are none" : `there are: ${known.join(", ")}`;
    throw invalidWorkflow(`no run of this session has the id ${shorten(runId)}; ${there}`, {
      details: { field },
    });
  }
  if (!run.isRunning) return run;
  throw invalidWorkflow(`the run ${run.runId} has not ended`, { details: { field } });
}

async function scriptOf(input: WorkflowInput, context: WorkflowContext): Promise<WorkflowScript> {
  const found =
    input.name !== undefined
      ? await findScript(input.name.trim(), context)
      : input.script_path !== undefined
        ? await readScript(input.script_path, context)
        : { source: input.script ?? "", path: undefined };
  if (Buffer.byteLength(found.source) > MAX_SCRIPT_BYTES) {
    throw invalidWorkflow(`the script is larger than ${MAX_SCRIPT_BYTES} bytes`);
  }
  const meta = readScriptMeta(found.source);
  if ("fault" in meta) throw invalidWorkflow(`the script's description cannot be read: ${meta.fault}`);
  const fileName = found.path === undefined ? undefined : basename(found.path).replace(/\.m?js$/, "");
  const { args, agent_budget: agentBudget } = input;
  return { ...found, name: meta.name ?? fileName ?? "workflow", args, agentBudget };
}

async function validate(
  engine: WorkflowEngine,
  script: WorkflowScript,
  { signal }: WorkflowContext,
): Promise<ToolResult> {
  const fault = await checkScript(engine, script.source, signal);
  if (fault !== undefined) throw invalidWorkflow(`the script of ${script.name} does not compile: ${fault}`);
  return answer("", script, `The script of ${script.name} compiles. Nothing was run.`);
}

/** Children end with the run, also those that the program did not wait for. */
async function execute(
  engine: WorkflowEngine,
  run: WorkflowRun,
  { subagents, signal, promptId }: WorkflowContext,
): Promise<WorkflowEnd> {
  const ending = new AbortController();
  using link = linkSignals([signal, ending.signal]);
  const children = new WorkflowChildren({ run, subagents, promptId, signal: link.signal });
  const { source, args } = run.script;
  try {
    return await engine.run({
      source,
      args,
      signal,
      agent: (input) => children.agent(input),
      parallel: (input) => children.parallel(input),
    });
  } finally {
    ending.abort(new Error("the workflow has ended"));
    await children.ended();
  }
}

function failed({ runId, script }: WorkflowRun, errorText: string, context: WorkflowContext): ToolError {
  return new ToolError(ErrorCode.EXECUTION_FAILED, `the workflow ${script.name} failed: ${errorText}`, {
    details: { code: "workflow_failed", run_id: runId },
    suggestion: `Mend the cause, then call again with ${context.parameterName("resume_from_run_id")} ${runId}, or with a corrected script.`,
  });
}

function answer(runId: string, { name, path }: WorkflowScript, message: string): ToolResult {
  const output = {
    type: "Workflow",
    run_id: runId,
    task_id: runId,
    name,
    ...(path !== undefined && { script_path: path }),
    message,
  };
  return { output, promptText: message };
}
