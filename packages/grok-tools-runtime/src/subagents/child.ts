import { TriviumError } from "@trivium/core";
import type { SubagentDefinition } from "./definitions/subagent-definition.ts";
import type { SubagentProgress } from "./subagent-runner.ts";
import type { Subagent, SubagentEnd, SubagentRequest } from "./subagents.ts";

/** What is settled about a child before it runs. */
export interface ChildPlan {
  readonly id: string;
  readonly request: SubagentRequest;
  readonly definition: SubagentDefinition;
  /** Folder it works in; undefined: the session's, or that of a worktree to be made. */
  readonly directory: string | undefined;
  readonly worktreePath: string | undefined;
  readonly needsWorktree: boolean;
  readonly model: string | undefined;
  /** 1 for children of the host. */
  readonly depth: number;
  readonly startedAtMs: number;
}

/** What a child tells its coordinator. */
export interface ChildEvents {
  /** It is to end. The coordinator ends one that still waits in line. */
  cancelled(child: Child): void;
  /** Nobody waits any more for an end that nobody has received. */
  released(child: Child): void;
}

/** One child of a session, from the line to its end. The coordinator moves it on. */
export class Child implements Subagent {
  readonly plan: ChildPlan;
  readonly finished: Promise<SubagentEnd>;
  /** Where it works once it runs; a later child that goes on with it works there too. */
  place: { readonly directory: string | undefined; readonly worktreePath: string | undefined };
  /** Somebody has received the end. */
  isDelivered = false;
  /** Host and model were told of the end. */
  isAnnounced = false;
  readonly #events: ChildEvents;
  readonly #controller = new AbortController();
  readonly #settle: (end: SubagentEnd) => void;
  #status: Subagent["status"] = "queued";
  #end: SubagentEnd | undefined;
  #progress: SubagentProgress | undefined;
  #endedAtMs: number | undefined;
  #holdCount = 0;

  constructor(plan: ChildPlan, events: ChildEvents) {
    this.plan = plan;
    this.#events = events;
    this.place = { directory: plan.directory, worktreePath: plan.worktreePath };
    const { promise, resolve } = Promise.withResolvers<SubagentEnd>();
    this.finished = promise;
    this.#settle = resolve;
  }

  get id(): string {
    return this.plan.id;
  }

  get type(): string {
    return this.plan.definition.name;
  }

  get description(): string {
    return this.plan.request.description;
  }

  get isBackground(): boolean {
    return this.plan.request.owner !== "foreground" || this.plan.definition.isBackground;
  }

  get startedAtMs(): number {
    return this.plan.startedAtMs;
  }

  get status(): Subagent["status"] {
    return this.#status;
  }

  get end(): SubagentEnd | undefined {
    return this.#end;
  }

  get endedAtMs(): number | undefined {
    return this.#endedAtMs;
  }

  get progress(): SubagentProgress | undefined {
    return this.#progress;
  }

  /** Aborts when the child is to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** A caller of the session waits for the end. */
  get isHeld(): boolean {
    return this.#holdCount > 0;
  }

  /** Moves it on; an ended child stays as it is. */
  advance(status: "initializing" | "running"): void {
    if (this.#end === undefined) this.#status = status;
  }

  /** Keeps how far it is. */
  report(progress: SubagentProgress): void {
    if (this.#end === undefined) this.#progress = progress;
  }

  /** Records the end. */
  finish(end: SubagentEnd, endedAtMs: number): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#endedAtMs = endedAtMs;
    this.#status = end.status;
    this.#settle(end);
  }

  markDelivered(): void {
    this.isDelivered = true;
  }

  hold(): Disposable {
    let isHeld = true;
    this.#holdCount += 1;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#holdCount -= 1;
        if (this.#holdCount === 0) this.#events.released(this);
      },
    };
  }

  async cancel(reason: string): Promise<boolean> {
    if (this.#end !== undefined) return false;
    if (!this.signal.aborted) {
      this.#controller.abort(new TriviumError("cancelled", reason));
      this.#events.cancelled(this);
    }
    await this.finished;
    return true;
  }
}
