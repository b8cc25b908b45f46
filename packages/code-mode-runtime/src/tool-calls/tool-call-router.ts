import { type Clock, type IdSource, TriviumError } from "@trivium/core";
import type { Cell, ToolCallRequest } from "../cell/cell.ts";
import type { CodeModeLimits } from "../limits.ts";
import { RecentIds } from "../recent-ids.ts";
import type { ServerCalls } from "../server-tools/server-calls.ts";
import { Subscription, type SubscriptionOptions, type SubscriptionOwner } from "./subscription.ts";
import { type ToolCallResult, toolCallBytes } from "./tool-call.ts";
import { canonicalToolName } from "./tool-name.ts";

/** What the router needs of its session. */
export interface ToolCallRouterOptions {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly limits: CodeModeLimits;
  /** Calls of the session that may be unanswered at a time. */
  readonly maxPendingCalls: number;
  /** A call that was handed out is void, because its cell has ended. */
  readonly onCancelled: (invocationId: string) => void;
  /** A subscription went away with calls unanswered, and nobody answered them within the grace. */
  readonly onAbandoned: () => void;
  /** Answers what no subscription takes, for the tools that are its own. */
  readonly serverCalls?: ServerCalls | undefined;
}

/** A call that every matching subscription has no room for. */
interface WaitingCall {
  readonly cell: Cell;
  readonly call: ToolCallRequest;
  readonly canonicalName: string;
  readonly bytes: number;
}

/** A call that a subscription has. */
interface OpenCall {
  readonly cell: Cell;
  readonly toolCallId: string;
  readonly subscription: Subscription;
}

/**
 * Hands the tool calls of a session to its subscriptions and their results back to the cells.
 *
 * Among the subscriptions that take a call the next one after the last used gets it, if it has room. Tools of the
 * server itself are asked where no subscription matches.
 */
export class ToolCallRouter implements SubscriptionOwner {
  readonly clock: Clock;
  readonly backlog: number;
  readonly #options: ToolCallRouterOptions;
  readonly #known: RecentIds;
  readonly #openCalls = new Map<string, OpenCall>();
  readonly #graceTimers = new Set<Disposable>();
  #waiting: WaitingCall[] = [];
  #subscriptions: Subscription[] = [];
  /** Index at which the next search begins. */
  #next = 0;

  constructor(options: ToolCallRouterOptions) {
    this.#options = options;
    this.clock = options.clock;
    this.backlog = options.limits.subscriptionBacklog;
    this.#known = new RecentIds(options.limits.rememberedIds);
  }

  /** @throws {@link TriviumError} `resourceExhausted` past the limit of subscriptions. */
  subscribe(options: SubscriptionOptions): Subscription {
    const { maxSubscriptions } = this.#options.limits;
    if (this.#subscriptions.length >= maxSubscriptions) {
      throw new TriviumError(
        "resourceExhausted",
        `too many tool call subscriptions: a session may have ${maxSubscriptions}`,
      );
    }
    const subscription = new Subscription(this, options);
    this.#subscriptions.push(subscription);
    this.hasRoom();
    return subscription;
  }

  /** Takes a call of a cell: hands it out, keeps it until there is room, or rejects its promise. */
  dispatch(cell: Cell, call: ToolCallRequest): void {
    const { toolName: name, namespace } = call.tool;
    const canonicalName = canonicalToolName({ name, namespace });
    if (!this.#isTaken(canonicalName)) {
      this.#dispatchUntaken(cell, call);
      return;
    }
    const bytes = toolCallBytes({ ...call, executionId: cell.executionId, cellId: cell.cellId });
    const refusal = this.#refusal(name, bytes);
    if (refusal !== undefined) {
      cell.rejectTool(call.toolCallId, refusal);
      return;
    }
    const waiting = { cell, call, canonicalName, bytes };
    if (!this.#offer(waiting)) this.#waiting.push(waiting);
  }

  /**
   * Settles a call. One that was settled or cancelled before is left alone: the first result wins.
   *
   * @throws {@link TriviumError} `notFound` for an id this session did not give out, or has forgotten.
   */
  complete(invocationId: string, result: ToolCallResult): void {
    const open = this.#openCalls.get(invocationId);
    if (open === undefined) {
      if (this.#known.has(invocationId)) return;
      throw new TriviumError("notFound", `no tool call has the invocation_id ${invocationId}`);
    }
    this.#forget(invocationId, open);
    if (result.type === "succeeded") open.cell.resolveTool(open.toolCallId, result.outputJson);
    else open.cell.rejectTool(open.toolCallId, result.message);
  }

  /** The cell is over: its calls are void. */
  cancelCell(cell: Cell): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting.cell !== cell);
    for (const [invocationId, open] of this.#openCalls) {
      if (open.cell !== cell) continue;
      this.#forget(invocationId, open);
      this.#options.onCancelled(invocationId);
    }
  }

  /** The session is over: every subscription ends. */
  close(failure: Error | undefined): void {
    for (const timer of this.#graceTimers) timer[Symbol.dispose]();
    this.#graceTimers.clear();
    this.#waiting = [];
    this.#openCalls.clear();
    for (const { events } of this.#subscriptions.splice(0)) events.close(failure);
  }

  hasRoom(): void {
    let index = 0;
    // Most often one place is free for hundreds that wait: looking at all of them each time would take too long.
    while (index < this.#waiting.length && this.#subscriptions.some((subscription) => subscription.hasRoom)) {
      const waiting = this.#waiting[index];
      if (waiting !== undefined && this.#offer(waiting)) this.#waiting.splice(index, 1);
      else index++;
    }
  }

  left(subscription: Subscription): void {
    const index = this.#subscriptions.indexOf(subscription);
    if (index < 0) return;
    this.#subscriptions.splice(index, 1);
    if (index < this.#next) this.#next--;
    if (subscription.open.size > 0) this.#awaitCompletions(subscription);
    this.#redirectUntaken();
  }

  #isTaken(canonicalName: string): boolean {
    return this.#subscriptions.some((subscription) => subscription.takes(canonicalName));
  }

  #dispatchUntaken(cell: Cell, call: ToolCallRequest): void {
    const { serverCalls } = this.#options;
    if (serverCalls?.takes(call) === true) serverCalls.dispatch(cell, call);
    else cell.rejectTool(call.toolCallId, `no tool call subscription takes the tool ${call.tool.toolName}`);
  }

  #refusal(name: string, bytes: number): string | undefined {
    const { maxPendingCalls, limits } = this.#options;
    if (this.#openCalls.size + this.#waiting.length >= maxPendingCalls) {
      return `too many pending tool calls: this session allows ${maxPendingCalls}`;
    }
    if (bytes > limits.maxMessageBytes) {
      return `the call of the tool ${name} takes ${bytes} bytes; a message holds at most ${limits.maxMessageBytes}`;
    }
    if (this.#unreadBytes() + bytes > limits.maxToolCallBacklogBytes) {
      return `too many unread tool calls: they take at most ${limits.maxToolCallBacklogBytes} bytes in this session`;
    }
    return undefined;
  }

  /** Bytes of the calls that no subscriber has read. */
  #unreadBytes(): number {
    let bytes = 0;
    for (const waiting of this.#waiting) bytes += waiting.bytes;
    for (const { events } of this.#subscriptions) bytes += events.backlogBytes;
    return bytes;
  }

  #offer({ cell, call, canonicalName }: WaitingCall): boolean {
    const count = this.#subscriptions.length;
    for (let step = 0; step < count; step++) {
      const index = (this.#next + step) % count;
      const subscription = this.#subscriptions[index];
      if (subscription === undefined || !subscription.takes(canonicalName) || !subscription.hasRoom) continue;
      this.#next = index + 1;
      const invocationId = this.#options.ids.uuid();
      this.#known.add(invocationId);
      this.#openCalls.set(invocationId, { cell, toolCallId: call.toolCallId, subscription });
      cell.dispatchedCalls++;
      const { executionId, cellId, dispatchedCalls: sequence } = cell;
      subscription.push({ ...call, executionId, cellId, invocationId, sequence });
      return true;
    }
    return false;
  }

  #forget(invocationId: string, open: OpenCall): void {
    this.#openCalls.delete(invocationId);
    open.subscription.open.delete(invocationId);
  }

  #awaitCompletions(subscription: Subscription): void {
    const { limits, onAbandoned } = this.#options;
    if (limits.resubscribeGraceMs <= 0) {
      onAbandoned();
      return;
    }
    const timer = this.clock.setTimer(limits.resubscribeGraceMs, () => {
      this.#graceTimers.delete(timer);
      if (subscription.open.size > 0) onAbandoned();
    });
    this.#graceTimers.add(timer);
  }

  #redirectUntaken(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) {
      if (this.#isTaken(one.canonicalName)) this.#waiting.push(one);
      else this.#dispatchUntaken(one.cell, one.call);
    }
  }
}
