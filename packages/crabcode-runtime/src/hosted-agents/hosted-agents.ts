import type { ToolInput } from "../conversation/message.ts";

/**
 * Loops over a model that another part of the process runs with tools of its own. They are no sessions: no list names
 * them, no call reaches them, nobody is asked and nothing of them is kept on disk. Disposing stops all of them and
 * waits for what they started.
 */
export interface HostedAgents extends AsyncDisposable {
  /**
   * Runs an agent to its end; what goes wrong inside is part of the end. Settles only when every request and every call
   * of the agent has ended, also after `signal` has aborted.
   *
   * @throws TriviumError `unavailable` once disposed, `notFound` when the conversation to go on with is not kept.
   */
  run(request: HostedAgentRequest, signal: AbortSignal): Promise<HostedAgentEnd>;
  /** Whether the settings of the server have a profile of that name that can be used. */
  acceptsModel(profile: string): boolean;
  /**
   * Whether settings or environment choose a model. Without one agents can only say so; `offline` counts when it was
   * chosen by name.
   */
  readonly hasModel: boolean;
}

/** One agent to run. */
export interface HostedAgentRequest {
  /** Whoever the agent works for. Its conversations are kept as long as this object is. */
  readonly owner: object;
  /** Names the conversation among those of the owner. */
  readonly id: string;
  /** Complete. */
  readonly systemPrompt: string;
  readonly prompt: string;
  /** Goes before the prompt of a new conversation. */
  readonly preamble?: string | undefined;
  /** An ended agent of the owner whose conversation and model go on. */
  readonly resumeFrom?: string | undefined;
  readonly tools: readonly HostedTool[];
  /** Absolute; whose settings apply. */
  readonly cwd: string;
  /** A profile that is not there gives way to the usual one. Default: that of the settings. */
  readonly modelProfile?: string | undefined;
  /** Model requests it may make. Default: that of the settings. */
  readonly maxTurns?: number | undefined;
  /** Called after each request. Must not throw. */
  readonly onProgress?: ((progress: HostedAgentUsage) => void) | undefined;
}

/** A tool of a hosted agent. */
export interface HostedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of type `object`. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Changes nothing: calls of a step run beside each other. */
  readonly isReadOnly: boolean;
  /** Ends soon after the signal has aborted. What it throws is the call's result. */
  call(
    input: ToolInput,
    signal: AbortSignal,
  ): Promise<{ readonly result: string; readonly isError: boolean }>;
}

/** What an agent has used. */
export interface HostedAgentUsage {
  /** Model requests. */
  readonly turns: number;
  readonly toolCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** How an agent ended. */
export interface HostedAgentEnd extends HostedAgentUsage {
  readonly status: "completed" | "failed" | "stopped";
  /** Its last text. */
  readonly text: string;
  /** Why it failed. */
  readonly error: string | undefined;
}
