import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SubagentOutcome, SubagentRun } from "@trivium/grok-tools-runtime";
import type { SpawnSubagentRequestSchema, SubagentResultMsg } from "@trivium/proto/grok-tools";

/** A child in the words of the contract. */
export function toSpawnRequest(child: SubagentRun): MessageInitShape<typeof SpawnSubagentRequestSchema> {
  const { parentPromptId, resumeFrom, cwd, initialUserMessage } = child;
  return {
    id: child.id,
    prompt: child.prompt,
    description: child.description,
    subagentType: child.type,
    parentSessionId: child.parentSessionId,
    systemPrompt: child.systemPrompt,
    toolNames: [...child.toolNames],
    ...(parentPromptId !== undefined && { parentPromptId }),
    ...(resumeFrom !== undefined && { resumeFrom }),
    ...(cwd !== undefined && { cwd }),
    ...(initialUserMessage !== undefined && { initialUserMessage }),
  };
}

/** What a host says about an ended child. Ids, folder and background are ours to know. */
export function fromResultMessage(message: SubagentResultMsg): SubagentOutcome {
  const totalTokens = message.totalTokensUsed ?? (message.tokensUsed > 0n ? message.tokensUsed : undefined);
  return {
    isCancelled: message.cancelled,
    isSuccess: message.success,
    output: message.output,
    error: message.error,
    toolCalls: message.toolCalls,
    turns: message.turns,
    durationMs: Number(message.durationMs),
    totalTokens: totalTokens === undefined ? undefined : Number(totalTokens),
  };
}
