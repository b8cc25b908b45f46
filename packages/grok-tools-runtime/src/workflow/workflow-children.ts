import { abortable } from "@trivium/core";
import type { JsonValue } from "../json.ts";
import type { Subagent, SubagentEnd, Subagents } from "../subagents/subagents.ts";
import { ToolError } from "../tool-error.ts";
import { type AgentRequest, type AgentResult, parseAgent, parseParallel } from "./agent-request.ts";
import type { WorkflowRun } from "./workflow-run.ts";

/** Children of one run at a time. */
const MAX_LIVE = 32;

/** What the children of a run need. */
export interface WorkflowChildrenDeps {
  readonly run: WorkflowRun;
  readonly subagents: Subagents;
  /** Ends all of them. */
  readonly signal: AbortSignal;
  readonly promptId: string | undefined;
}

/** The host functions of one run: they start children within its budget. */
export class WorkflowChildren {
  readonly #deps: WorkflowChildrenDeps;
  readonly #running = new Set<Promise<unknown>>();
  readonly #waiting: (() => void)[] = [];
  #live = 0;
  #started = 0;

  constructor(deps: WorkflowChildrenDeps) {
    this.#deps = deps;
  }

  /** Children that were started, those of a resumed run not counted. */
  get started(): number {
    return this.#started;
  }

  /** The text of one child. Rejects when it did not complete. */
  async agent(input: { readonly prompt: JsonValue; readonly options: JsonValue }): Promise<JsonValue> {
    const request = parseAgent(input);
    this.#spend([request]);
    const { status, output, error } = await this.#resultOf(request);
    if (status === "completed") return output;
    throw new Error(
      `the agent ${status === "failed" ? `failed: ${error ?? "unknown cause"}` : "was cancelled"}`,
    );
  }

  /** The results of several children, in the order of the list. None is started when the budget is too small for all. */
  async parallel(input: { readonly items: JsonValue }): Promise<JsonValue> {
    const requests = parseParallel(input);
    this.#spend(requests);
    const results = await Promise.all(requests.map((request) => this.#resultOf(request)));
    return results.map(({ status, output, error }) => ({ status, output, error }));
  }

  /** Settles when no child is left. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  #spend(requests: readonly AgentRequest[]): void {
    const { run } = this.#deps;
    const { agentBudget } = run.script;
    const wanted = this.#started + run.countUnanswered(requests);
    if (wanted > agentBudget) {
      throw new Error(`the workflow asks for ${wanted} agents, but its agent_budget is ${agentBudget}`);
    }
    this.#started = wanted;
  }

  #resultOf(request: AgentRequest): Promise<AgentResult> {
    const replay = this.#deps.run.takeReplay(request);
    if (replay !== undefined) return Promise.resolve(replay);
    const running = this.#runChild(request);
    this.#running.add(running);
    const forget = (): boolean => this.#running.delete(running);
    running.then(forget, forget);
    return running;
  }

  async #runChild(request: AgentRequest): Promise<AgentResult> {
    const { run, signal } = this.#deps;
    await this.#enter();
    try {
      const child = await this.#start(request);
      if (ToolError.isInstance(child)) return { status: "failed", output: "", error: child.message };
      const { status, output, error } = await endOf(child, signal);
      const result = { status, output, error: error ?? null };
      run.record(request, result);
      return result;
    } finally {
      this.#live -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** A child that cannot be started is one that has failed: the others of its list go on. */
  async #start({ prompt, description, type, model, isolation }: AgentRequest): Promise<Subagent | ToolError> {
    const { run, subagents, signal, promptId } = this.#deps;
    const shown = description ?? `workflow ${run.script.name}`;
    try {
      return await subagents.start(
        { prompt, description: shown, type, model, isolation, promptId, owner: "workflow" },
        signal,
      );
    } catch (thrown) {
      if (signal.aborted || !ToolError.isInstance(thrown)) throw thrown;
      return thrown;
    }
  }

  async #enter(): Promise<void> {
    while (this.#live >= MAX_LIVE) {
      await abortable(new Promise<void>((resolve) => this.#waiting.push(resolve)), this.#deps.signal);
    }
    this.#live += 1;
  }
}

/** Waits for the end of a child, and ends it with the run. */
async function endOf(child: Subagent, signal: AbortSignal): Promise<SubagentEnd> {
  using _hold = child.hold();
  const onAbort = (): void => void child.cancel("its workflow has ended").catch(() => {});
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const end = await child.finished;
    child.markDelivered();
    return end;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
