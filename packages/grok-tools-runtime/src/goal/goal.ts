import { z } from "zod";
import type { JsonValue } from "../json.ts";
import type { ResourceDefinition, SessionScope } from "../session-resource.ts";
import { goalParams } from "./goal-params.ts";

/** Entries that are kept. */
const MAX_LOG = 200;

export type GoalStatus = "active" | "blocked" | "completed";

interface LogEntry {
  /** RFC 3339. */
  readonly at: string;
  readonly kind: "message" | "blocked" | "completed" | "not_achieved";
  readonly text: string;
}

interface GoalState {
  objective: string;
  status: GoalStatus;
  /** How often the verifier has refused. */
  attempts: number;
  log: LogEntry[];
}

const saved: z.ZodType<GoalState> = z.object({
  objective: z.string(),
  status: z.enum(["active", "blocked", "completed"]),
  attempts: z.int().min(0).default(0),
  log: z.array(
    z.object({
      at: z.string(),
      kind: z.enum(["message", "blocked", "completed", "not_achieved"]),
      text: z.string(),
    }),
  ),
});

/** What a session works towards, and what became of it so far. */
export class Goal {
  readonly #scope: SessionScope;
  #goal: GoalState | undefined;
  /** A verifier runs. */
  isBeingVerified = false;

  constructor(scope: SessionScope) {
    this.#scope = scope;
  }

  get objective(): string | undefined {
    return this.#goal?.objective;
  }

  get status(): GoalStatus | undefined {
    return this.#goal?.status;
  }

  /** How often the verifier has refused. */
  get attempts(): number {
    return this.#goal?.attempts ?? 0;
  }

  /** Takes the objective of the configuration; another one than before starts anew. */
  adopt(objective: string | null): void {
    if (objective === null || objective.trim() === "" || objective === this.#goal?.objective) return;
    this.#goal = { objective, status: "active", attempts: 0, log: [] };
  }

  /** Notes what happened and what the goal is then. */
  record(kind: LogEntry["kind"], text: string): void {
    if (this.#goal === undefined) return;
    this.#goal.log.push({ at: new Date(this.#scope.clock.now()).toISOString(), kind, text });
    if (this.#goal.log.length > MAX_LOG) this.#goal.log.shift();
    if (kind === "not_achieved") this.#goal.attempts += 1;
    else if (kind !== "message") this.#goal.status = kind;
  }

  load(value: JsonValue): boolean {
    const parsed = saved.safeParse(value);
    if (!parsed.success) return false;
    this.#goal = { ...parsed.data, log: parsed.data.log.slice(-MAX_LOG) };
    return true;
  }

  /** Undefined without a goal. */
  save(): JsonValue | undefined {
    if (this.#goal === undefined) return undefined;
    const { objective, status, attempts, log } = this.#goal;
    return { objective, status, attempts, log: log.map(({ at, kind, text }) => ({ at, kind, text })) };
  }
}

/** The goal of a session. */
export const goal: ResourceDefinition<Goal> = {
  name: "goal",
  create: (scope) => new Goal(scope),
  configure: (resource, params) => resource.adopt(goalParams.schema.parse(params).objective),
  // Who works towards a goal is not to be led away from it.
  mutesCompletions: (resource) => resource.status === "active",
  state: {
    key: "trivium.Goal",
    load: (resource, value) => resource.load(value),
    save: (resource) => resource.save(),
  },
};
