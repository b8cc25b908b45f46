/**
 * The children of a session: model loops that a host runs and this package only follows. Tools start them with
 * `context.subagents`, whoever the host is.
 */
export interface Subagents {
  /** Who runs children: the client's callback, a runner of this process, or nobody. */
  readonly host: "callback" | "local" | undefined;
  /**
   * Starts a child, or queues it when the session has its limit. It ends with its session at the latest.
   *
   * @throws {@link ToolError} when there is no host, the id is taken, the limit is not to be queued at, the type is
   * unknown, or the source of a resume cannot be continued. Nothing was started then.
   */
  start(request: SubagentRequest): Promise<Subagent>;
  /** Undefined: never known, or forgotten (the newest 1024 ended ones are kept). */
  get(id: string): Subagent | undefined;
  /** In the order they were started. */
  list(): readonly Subagent[];
}

/** One child to start. */
export interface SubagentRequest {
  /** Default: a new UUID v7. */
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
  /** Turn of the host that asked; all children of a turn end with it. */
  readonly promptId?: string | undefined;
  /** Who waits for the result: a call (foreground), nobody (background), a schedule, a workflow (not counted). */
  readonly owner: "foreground" | "background" | "schedule" | "workflow";
  /** Cut of the result's text, in bytes. Default: none. */
  readonly outputCap?: number | undefined;
}

/** A child as it is now. */
export interface Subagent {
  readonly id: string;
  readonly type: string;
  readonly description: string;
  readonly status: "queued" | "initializing" | "running" | "completed" | "failed" | "cancelled";
  /** Undefined while it has not ended. */
  readonly end: SubagentEnd | undefined;
  /** Settles with the end; never rejects. */
  readonly finished: Promise<SubagentEnd>;
  /** No completion is announced for a child whose result somebody has received. */
  markDelivered(): void;
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
