import type { Clock } from "@trivium/core";
import { EventChannel } from "../event-channel.ts";
import { type SubscriptionEvent, type ToolCall, toolCallBytes } from "./tool-call.ts";
import { canonicalToolName, type ToolReference } from "./tool-name.ts";

/** What a subscriber wants. */
export interface SubscriptionOptions {
  /** Tools whose calls it takes. Empty: all of them. */
  readonly tools: readonly ToolReference[];
  /** Idle time after which a heartbeat is sent; 0 sends none. */
  readonly heartbeatIntervalMs: number;
}

/** What a subscription reports to the router. */
export interface SubscriptionOwner {
  readonly clock: Clock;
  readonly backlog: number;
  hasRoom(): void;
  left(subscription: Subscription): void;
}

/** One reader of tool calls. */
export class Subscription {
  readonly events: EventChannel<SubscriptionEvent>;
  /** Invocations handed to it and not answered. */
  readonly open: Set<string> = new Set<string>();
  readonly #backlog: number;
  readonly #tools: ReadonlySet<string>;

  constructor(owner: SubscriptionOwner, options: SubscriptionOptions) {
    this.#backlog = owner.backlog;
    this.#tools = new Set(options.tools.map(canonicalToolName));
    this.events = new EventChannel<SubscriptionEvent>({
      clock: owner.clock,
      heartbeatIntervalMs: options.heartbeatIntervalMs,
      heartbeat: { type: "heartbeat" },
      weigh: (event) => (event.type === "tool-called" ? toolCallBytes(event.call) : 0),
      onTaken: () => owner.hasRoom(),
      onLeft: () => owner.left(this),
    });
  }

  /** True when it takes calls of the tool with this canonical name. */
  takes(canonicalName: string): boolean {
    return this.#tools.size === 0 || this.#tools.has(canonicalName);
  }

  get hasRoom(): boolean {
    return this.events.size < this.#backlog;
  }

  push(call: ToolCall): void {
    this.open.add(call.invocationId);
    this.events.push({ type: "tool-called", call });
  }
}
