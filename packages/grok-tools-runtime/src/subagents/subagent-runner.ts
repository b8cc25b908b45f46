import type { CallOptions } from "../execute/call-options.ts";
import type { SubagentSession } from "./subagent-session.ts";

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
  /** The session of the child, for runners of this process: one object for all children of a session. */
  readonly session: SubagentSession;
  /** Goes with every call on the session: the child may do no more than whoever has started it. */
  readonly authorise: CallOptions["authorise"];
  /** Folder of the session, absolute. */
  readonly sessionDirectory: string;
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
  /** For runners that can tell how far the child is. What is said after its end is dropped. */
  readonly onProgress: (progress: SubagentProgress) => void;
}

/** How far a child is. */
export interface SubagentProgress {
  /** Model requests. */
  readonly turns: number;
  readonly toolCalls: number;
  readonly totalTokens: number;
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
