/**
 * Port to whoever runs the model loop of a child: the callback service of the client, or agents of this process. It
 * only runs; the coordinator of the session keeps the life cycle.
 */
export interface SubagentRunner {
  /**
   * Makes sure that children can be run now. Absent: they always can.
   *
   * @throws {@link TriviumError} when they cannot; the reason of `signal`.
   */
  connect?(signal: AbortSignal): Promise<void>;
  /**
   * Runs a child to its end. The child calls tools on the session it belongs to, with its own id as `promptId`, so that
   * what it starts is known to be its own.
   *
   * Rejects for a child that could not be run; it has failed then. When `signal` aborts the child stops and the promise
   * settles either way.
   */
  run(child: SubagentRun, signal: AbortSignal): Promise<SubagentOutcome>;
  /** Whether a model may be asked for. Without this method children cannot choose one. */
  acceptsModel?(model: string): boolean | Promise<boolean>;
}

/** A child with everything decided. Contract: SpawnSubagentRequest */
export interface SubagentRun {
  /** Also names its conversation. */
  readonly id: string;
  readonly prompt: string;
  readonly description: string;
  readonly type: string;
  readonly parentSessionId: string;
  readonly parentPromptId: string | undefined;
  /** The ended child whose conversation goes on, without its system prompt. */
  readonly resumeFrom: string | undefined;
  /** Absolute; undefined: the session's folder. */
  readonly cwd: string | undefined;
  /** Complete, with the names of the tools the child has. */
  readonly systemPrompt: string;
  /** Client names of the session's tools that it may use. */
  readonly toolNames: readonly string[];
  /** Goes before the prompt: instructions of the project. */
  readonly initialUserMessage: string | undefined;
  /** Undefined: the runner's own. */
  readonly model: string | undefined;
  /** Model requests it may make; undefined: the runner's own limit. */
  readonly maxTurns: number | undefined;
}

/** What a runner says about an ended child. Contract: SubagentResultMsg */
export interface SubagentOutcome {
  /** Cancelled wins over success. */
  readonly isCancelled: boolean;
  readonly isSuccess: boolean;
  /** Its last text. */
  readonly output: string;
  readonly error: string | undefined;
  readonly toolCalls: number;
  readonly turns: number;
  /** 0: not measured. */
  readonly durationMs: number;
  readonly totalTokens: number | undefined;
}
