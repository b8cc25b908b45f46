import { linkSignals } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { ToolError } from "../tool-error.ts";
import { Child, type ChildPlan } from "./child.ts";
import { ChildLine } from "./child-line.ts";
import { Completions, completionText } from "./completions.ts";
import type { CoordinatorOptions } from "./coordinator-options.ts";
import { EndedChildren } from "./ended-children.ts";
import { planChild } from "./plan-child.ts";
import { runChild } from "./run-child.ts";
import { callbackUnreachable, channelClosed, noHost } from "./subagent-errors.ts";
import type { SubagentRunner } from "./subagent-runner.ts";
import type {
  Subagent,
  SubagentControl,
  SubagentHost,
  SubagentRequest,
  Subagents,
  SubagentType,
} from "./subagents.ts";

/** The children of one session and their life cycle. It runs none itself: a {@link SubagentRunner} does. */
export class SubagentCoordinator implements Subagents, SubagentControl {
  readonly #options: CoordinatorOptions;
  readonly #children = new Map<string, Child>();
  readonly #line: ChildLine;
  readonly #completions = new Completions();
  readonly #ended = new EndedChildren();
  #isStopped = false;
  #closing: Promise<void> | undefined;

  constructor(options: CoordinatorOptions) {
    this.#options = options;
    this.#line = new ChildLine(options.limits, (child) => void this.#run(child));
    const { sessionSignal } = options.scope;
    // Calls of the session are cancelled now too; waiting for them first would let children work on.
    sessionSignal.addEventListener("abort", () => void this.close(), { once: true });
  }

  get host(): SubagentHost {
    return this.#options.runner?.kind;
  }

  async types(): Promise<readonly SubagentType[]> {
    const { types, scope } = this.#options;
    await types.load(scope.sessionSignal);
    return types.definitions.map(({ name, description }) => ({ name, description }));
  }

  /** Some child has not ended. */
  get isBusy(): boolean {
    return this.#children.size > this.#ended.count;
  }

  get(id: string): Child | undefined {
    return this.#children.get(id);
  }

  list(): readonly Subagent[] {
    return [...this.#children.values()];
  }

  async start(request: SubagentRequest, signal?: AbortSignal): Promise<Subagent> {
    const { runner, scope } = this.#options;
    if (runner === undefined) throw noHost();
    this.#assertAdmits(request);
    using link = linkSignals([signal, scope.sessionSignal]);
    await this.#reach(runner.runner, link.signal);
    const plan = await planChild(request, {
      ...this.#options,
      runner: runner.runner,
      children: this.#children,
    });
    link.signal.throwIfAborted();
    // Other starts may have come this far meanwhile: what depends on them is checked without a pause.
    this.#assertAdmits(request);
    this.#assertPossible(plan);
    const child = new Child(plan, {
      cancelled: (cancelled) => this.#leaveLine(cancelled),
      released: (released) => this.#announce(released),
    });
    this.#children.set(child.id, child);
    this.#line.enter(child);
    return child;
  }

  async cancelTurn(promptId: string, reason: string): Promise<void> {
    await this.#cancelAll(reason, ({ plan }) => plan.request.promptId === promptId);
  }

  async stop(reason: string): Promise<void> {
    this.#isStopped = true;
    await this.#cancelAll(reason, ({ plan }) => plan.request.owner !== "workflow");
  }

  reopen(): void {
    this.#isStopped = false;
  }

  /** Children that have ended and whose end nobody has received, each given once, and what to tell the model. */
  takeCompletions(): { id: string; text: string }[] {
    const outputTool = this.#options.scope.toolName("background_task_action");
    return this.#completions.takeAll().flatMap((child) => {
      child.markDelivered();
      const { id, end } = child;
      return end === undefined ? [] : [{ id, text: completionText(child, end, outputTool) }];
    });
  }

  /** Ends all children for good. Nothing is announced any more. */
  close(): Promise<void> {
    this.#closing ??= this.#cancelAll("the session has ended", () => true);
    return this.#closing;
  }

  async #reach(runner: SubagentRunner, signal: AbortSignal): Promise<void> {
    try {
      await runner.connect?.(signal);
    } catch (cause) {
      signal.throwIfAborted();
      throw callbackUnreachable(cause);
    }
  }

  #assertAdmits({ owner }: SubagentRequest): void {
    if (this.#closing !== undefined) throw channelClosed("the session has ended: no subagent can be started");
    if (this.#isStopped && owner !== "workflow") {
      throw channelClosed(
        "the subagents of this session were stopped; others can be started in the next turn",
      );
    }
  }

  #assertPossible({ id, request }: ChildPlan): void {
    if (this.#children.has(id)) {
      const message = `there is a subagent with the id ${id} already; give another id, or none`;
      throw new ToolError(ErrorCode.INVALID_INPUT, message, { details: { reason: "duplicate_id" } });
    }
    const { atLimit, maxConcurrent } = this.#options.limits;
    if (atLimit === "fail" && request.owner !== "workflow" && this.#line.isFull) {
      throw new ToolError(
        ErrorCode.EXECUTION_FAILED,
        `${maxConcurrent} subagents run already, which is the limit; do not try again before one of them has ended`,
        { details: { code: "subagent_limit", limit: maxConcurrent } },
      );
    }
  }

  async #run(child: Child): Promise<void> {
    const { runner, scope, limits } = this.#options;
    if (runner === undefined) return;
    child.advance("initializing");
    scope.logger.debug({ subagentId: child.id, type: child.type }, "a subagent starts");
    const context = { ...this.#options, runner: runner.runner, maxDepth: limits.maxDepth };
    const end = await runChild(child, context);
    scope.logger.info({ subagentId: child.id, type: child.type, status: end.status }, "a subagent has ended");
    this.#finish(child, end);
    // What it has started itself works for nobody any more.
    if (end.status === "cancelled")
      void this.cancelTurn(child.id, "the subagent that started it was cancelled");
    this.#line.leave(child);
  }

  /** A child that is cancelled in line ends at once; the host never hears of it. */
  #leaveLine(child: Child): void {
    if (!this.#line.giveUp(child)) return;
    const facts = { toolCalls: 0, turns: 0, durationMs: 0, totalTokens: undefined, worktreePath: undefined };
    this.#finish(child, { status: "cancelled", output: "", error: undefined, ...facts });
  }

  #finish(child: Child, end: NonNullable<Child["end"]>): void {
    child.finish(end, this.#options.scope.clock.now());
    this.#announce(child);
    const forgotten = this.#ended.add(child);
    this.#completions.forget(forgotten);
    for (const { id } of forgotten) this.#children.delete(id);
  }

  /** Tells host and model about an end that nobody has received: of a child of the host, unless it was cancelled. */
  #announce(child: Child): void {
    const { end, plan } = child;
    if (end === undefined || end.status === "cancelled" || child.isDelivered || child.isHeld) return;
    if (this.#closing !== undefined || child.isAnnounced) return;
    if (plan.depth > 1 || plan.request.owner === "workflow") return;
    child.isAnnounced = true;
    const { scope } = this.#options;
    scope.notify({
      type: "SubagentCompleted",
      subagent_id: child.id,
      subagent_type: child.type,
      description: child.description,
      status: end.status,
      error: end.error ?? null,
      duration_ms: end.durationMs,
      owner_session_id: scope.sessionId,
    });
    this.#completions.add(child);
  }

  async #cancelAll(reason: string, applies: (child: Child) => boolean): Promise<void> {
    const live = [...this.#children.values()].filter((child) => child.end === undefined && applies(child));
    await Promise.all(live.map((child) => child.cancel(reason)));
  }
}
