import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  SpawnSubagentRequest,
  SubagentResultMsg,
  SubagentResultMsgSchema,
} from "@trivium/proto/grok-tools";

/** A subagent to run: a model loop that calls the tools of the session which started it. */
export interface SubagentTask {
  /** Id of the subagent. Give it as `promptId` to every tool call the subagent makes. */
  readonly id: string;
  readonly prompt: string;
  /** Title for people. */
  readonly description: string;
  readonly type: string;
  /** Session id of the tools. */
  readonly parentSessionId: string;
  readonly parentPromptId: string | undefined;
  /** An ended subagent whose conversation goes on, without its system prompt. */
  readonly resumeFrom: string | undefined;
  /** Folder it works in, absolute; undefined: the session's. */
  readonly cwd: string | undefined;
  /** Complete. */
  readonly systemPrompt: string;
  /** Client names of the tools it may use. */
  readonly toolNames: readonly string[];
  /** Goes before the prompt: instructions of the project. */
  readonly initialUserMessage: string | undefined;
}

/** How a subagent ended: with its last text, or with an error, or because it was stopped. */
export interface SubagentResult {
  readonly output?: string;
  /** Set: it failed. */
  readonly error?: string;
  readonly isCancelled?: boolean;
  readonly toolCalls?: number;
  readonly turns?: number;
  /** Absent: the server measures. */
  readonly durationMs?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
}

/** The task in a request. */
export function toSubagentTask(request: SpawnSubagentRequest): SubagentTask {
  return {
    id: request.id,
    prompt: request.prompt,
    description: request.description,
    type: request.subagentType,
    parentSessionId: request.parentSessionId,
    parentPromptId: request.parentPromptId,
    resumeFrom: request.resumeFrom,
    cwd: request.cwd,
    systemPrompt: request.systemPrompt ?? "",
    toolNames: request.toolNames,
    initialUserMessage: request.initialUserMessage,
  };
}

/** The answer for a result. */
export function toResultMessage(result: SubagentResult): MessageInitShape<typeof SubagentResultMsgSchema> {
  const { output = "", error, isCancelled = false, outputTokens, totalTokens } = result;
  return {
    success: error === undefined && !isCancelled,
    output,
    cancelled: isCancelled,
    toolCalls: result.toolCalls ?? 0,
    turns: result.turns ?? 0,
    durationMs: BigInt(Math.max(0, Math.round(result.durationMs ?? 0))),
    ...(error !== undefined && { error }),
    ...(outputTokens !== undefined && { outputTokensUsed: BigInt(outputTokens) }),
    ...(totalTokens !== undefined && { totalTokensUsed: BigInt(totalTokens) }),
  } satisfies Partial<SubagentResultMsg>;
}
