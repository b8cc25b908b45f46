import type { HostedAgents, HostedTool } from "@trivium/crabcode-runtime";
import type { SubagentOutcome, SubagentRun, SubagentRunner, ToolCard } from "@trivium/grok-tools-runtime";

/** Runs the subagents of tool sessions as agents of this process, which work with the tools of their session. */
export function createLocalRunner(agents: HostedAgents): SubagentRunner {
  return {
    acceptsModel: (model) => agents.acceptsModel(model),
    async run(child, signal): Promise<SubagentOutcome> {
      const end = await agents.run(
        {
          // A session's id may be any text of its client, and two sessions may have one.
          owner: child.session,
          id: child.id,
          systemPrompt: child.systemPrompt,
          prompt: child.prompt,
          preamble: child.initialUserMessage,
          resumeFrom: child.resumeFrom,
          tools: toolsOf(child),
          cwd: child.sessionDirectory,
          modelProfile: child.model,
          maxTurns: child.maxTurns,
          onProgress: ({ turns, toolCalls, inputTokens, outputTokens }) =>
            child.onProgress({ turns, toolCalls, totalTokens: inputTokens + outputTokens }),
        },
        signal,
      );
      return {
        isCancelled: end.status === "stopped",
        isSuccess: end.status === "completed",
        output: end.text,
        error: end.error,
        toolCalls: end.toolCalls,
        turns: end.turns,
        durationMs: 0,
        totalTokens: end.inputTokens + end.outputTokens,
      };
    },
  };
}

function toolsOf(child: SubagentRun): HostedTool[] {
  const names = new Set(child.toolNames);
  const offered = child.session.listTools().filter(({ name, isEnabled }) => isEnabled && names.has(name));
  return offered.map((card) => toHostedTool(card, child));
}

function toHostedTool(
  { name, description, inputSchema, capabilities }: ToolCard,
  { session, id, cwd, authorise }: SubagentRun,
): HostedTool {
  return {
    name,
    description,
    inputSchema,
    isReadOnly: capabilities.isReadOnly,
    async call(input, signal) {
      const { result } = await session.execute(name, JSON.stringify(input), {
        signal,
        promptId: id,
        authorise,
        workingDirectory: cwd,
        logicalErrors: "error",
        byteBuffers: "text",
      });
      if (result.ok) return { result: result.promptText, isError: false };
      const { message, suggestion } = result.error;
      return { result: suggestion === undefined ? message : `${message}\n${suggestion}`, isError: true };
    },
  };
}
