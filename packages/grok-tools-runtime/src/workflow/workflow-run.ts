import type { JsonValue } from "../json.ts";
import type { ResourceDefinition } from "../session-resource.ts";
import type { AgentRequest, AgentResult } from "./agent-request.ts";

/** Runs that can be resumed. */
const MAX_KEPT_RUNS = 32;

/** A script to run. */
export interface WorkflowScript {
  readonly name: string;
  readonly path: string | undefined;
  readonly source: string;
  readonly args: JsonValue;
  readonly agentBudget: number;
}

/** One run of a script, with what its children have brought: a later run need not ask them again. */
export class WorkflowRun {
  readonly runId: string;
  readonly script: WorkflowScript;
  isRunning = true;
  readonly #results: Map<string, AgentResult[]>;
  readonly #replays: Map<string, AgentResult[]>;

  constructor(runId: string, script: WorkflowScript, resumed?: WorkflowRun) {
    this.runId = runId;
    this.script = script;
    const brought = resumed === undefined ? new Map<string, AgentResult[]>() : resumed.#results;
    this.#results = copyOf(brought);
    this.#replays = copyOf(brought);
  }

  /** Notes what a child that was started has brought. */
  record(request: AgentRequest, result: AgentResult): void {
    if (result.status !== "completed") return;
    const key = keyOf(request);
    this.#results.set(key, [...(this.#results.get(key) ?? []), result]);
  }

  /** How many of these requests the resumed run cannot answer. */
  countUnanswered(requests: readonly AgentRequest[]): number {
    const left = new Map([...this.#replays].map(([key, results]) => [key, results.length]));
    return requests.filter((request) => {
      const count = left.get(keyOf(request)) ?? 0;
      left.set(keyOf(request), count - 1);
      return count <= 0;
    }).length;
  }

  /** What the resumed run had for this request; each of its results is given once. */
  takeReplay(request: AgentRequest): AgentResult | undefined {
    return this.#replays.get(keyOf(request))?.shift();
  }
}

function copyOf(results: ReadonlyMap<string, AgentResult[]>): Map<string, AgentResult[]> {
  return new Map([...results].map(([key, values]) => [key, [...values]]));
}

function keyOf({ prompt, description, type, model, isolation }: AgentRequest): string {
  return JSON.stringify([prompt, description, type, model, isolation]);
}

/** The runs of a session, the oldest forgotten first. */
export class WorkflowRuns {
  readonly #runs = new Map<string, WorkflowRun>();

  add(run: WorkflowRun): void {
    this.#runs.set(run.runId, run);
    const ended = [...this.#runs.values()].filter(({ isRunning }) => !isRunning);
    for (const { runId } of ended.slice(0, Math.max(0, this.#runs.size - MAX_KEPT_RUNS)))
      this.#runs.delete(runId);
  }

  get(runId: string): WorkflowRun | undefined {
    return this.#runs.get(runId);
  }

  /** Ids of the runs that are known. */
  list(): readonly string[] {
    return [...this.#runs.keys()];
  }
}

/** A run ends with its call, so there is nothing to dispose. */
export const workflowRuns: ResourceDefinition<WorkflowRuns> = {
  name: "workflow runs",
  create: () => new WorkflowRuns(),
};
