import type { CallOptions } from "../execute/call-options.ts";
import type { SubagentProgress } from "./subagent-runner.ts";

/**
 * The children of a session: model loops that a host runs and this package only follows. Tools start them with
 * `context.subagents`, whoever the host is.
 */
export interface Subagents {
  /** Who runs children: the client's callback, a runner of this process, or nobody. */
  readonly host: SubagentHost;
  /**
   * Starts a child, or queues it when the session has its limit. It ends with its session at the latest.
   *
   * @param signal gives up before the child is started; afterwards {@link Subagent.cancel} ends it
   * @throws {@link ToolError} when there is no host, the id is taken, the limit is not to be queued at, the type is
   * unknown, or the source of a resume cannot be continued; the reason of the signal. Nothing was started then.
   */
  start(request: SubagentRequest, signal?: AbortSignal): Promise<Subagent>;
  /** Undefined: never known, or forgotten (the newest 1024 ended ones are kept, of long texts fewer). */
  get(id: string): Subagent | undefined;
  /** In the order they were started. */
  list(): readonly Subagent[];
  /** What can be started, by name. */
  types(): Promise<readonly SubagentType[]>;
}

/** Ends children as a whole. Each method settles when they have ended. */
export interface SubagentControl {
  /** Those of a turn of the host, and what they have started. */
  cancelTurn(promptId: string, reason: string): Promise<void>;
  /** All but those of workflows. No others are started until {@link SubagentControl.reopen}. */
  stop(reason: string): Promise<void>;
  /** The next turn of the host has begun: children may be started again. */
  reopen(): void;
}

/** Who runs the children of a session; undefined: nobody. */
export type SubagentHost = "callback" | "local" | undefined;

/** A kind of child. */
export interface SubagentType {
  readonly name: string;
  /** When to use it. */
  readonly description: string;
}

/** One child to start. */
export interface SubagentRequest {
  /** 1 to 128 letters, digits, `.`, `_` and `-`. Default: a new UUID v7. */
  readonly id?: string | undefined;
  readonly prompt: string;
  /** Three to five words for people. */
  readonly description: string;
  /** Default `general-purpose`. */
  readonly type?: string | undefined;
  readonly resumeFrom?: string | undefined;
  /** Absolute; default: the session's. */
  readonly cwd?: string | undefined;
  readonly model?: string | undefined;
  readonly isolation?: "none" | "worktree" | undefined;
  /** Turn of the host that asked, or id of the child that did; all children of a turn end with it. */
  readonly promptId?: string | undefined;
  /** Who waits for the result: a call (foreground), nobody (background), a schedule, a workflow (not counted). */
  readonly owner: "foreground" | "background" | "schedule" | "workflow";
  /** Cut of the result's text, in bytes. Default: none. */
  readonly outputCap?: number | undefined;
  /** Asked before each call of the child, where a runner of this process makes it. */
  readonly authorise?: CallOptions["authorise"];
  /** Narrows what the type's definition allows. */
  readonly capabilityMode?: CapabilityMode | undefined;
}

/** Which kinds of tools a child gets: `read-write` adds edits to `read-only`, `execute` adds commands to it. */
export type CapabilityMode = "read-only" | "read-write" | "execute" | "all";

/** A child as it is now. */
export interface Subagent {
  readonly id: string;
  readonly type: string;
  readonly description: string;
  readonly status: "queued" | "initializing" | "running" | "completed" | "failed" | "cancelled";
  /** Nobody is meant to wait for it: it was asked for so, or its type is always run so. */
  readonly isBackground: boolean;
  /** When it was asked for, queueing included. Milliseconds since the epoch. */
  readonly startedAtMs: number;
  /** Undefined while it has not ended. */
  readonly endedAtMs: number | undefined;
  /** How far it is, as far as its runner tells; undefined before that. */
  readonly progress: SubagentProgress | undefined;
  /** Undefined while it has not ended. */
  readonly end: SubagentEnd | undefined;
  /** Settles with the end; never rejects. */
  readonly finished: Promise<SubagentEnd>;
  /** No completion is announced for a child whose result somebody has received. */
  markDelivered(): void;
  /**
   * Somebody waits for the end: it is not announced until the hold is disposed, and then only when nobody has called
   * {@link Subagent.markDelivered}.
   */
  hold(): Disposable;
  /** Ends it; settles when it has ended. False: it had ended before. */
  cancel(reason: string): Promise<boolean>;
}

/** How a child ended. */
export interface SubagentEnd {
  readonly status: "completed" | "failed" | "cancelled";
  /** Its last text. */
  readonly output: string;
  /** Set when it failed. */
  readonly error: string | undefined;
  readonly toolCalls: number;
  readonly turns: number;
  readonly durationMs: number;
  readonly totalTokens: number | undefined;
  readonly worktreePath: string | undefined;
}
