import { z } from "zod";
import { CrabcodeError } from "../crabcode-error.ts";
import {
  defineTool,
  failed,
  flag,
  type Tool,
  type ToolContext,
  type ToolOutcome,
  wholeNumber,
} from "../tools/tool.ts";
import type { Agent } from "./agent.ts";
import type { AgentCaller, AgentManager } from "./agent-manager.ts";
import { describeAgent } from "./agent-text.ts";

const MAX_DISPLAY_LINES = 120;

/** The tools with which a model delegates. `agents` is asked with each call: they come after the tools. */
export function agentTools(agents: () => AgentManager): Tool[] {
  return [
    spawnTool(agents),
    statusTool(agents),
    waitTool(agents),
    cancelTool(agents),
    sendInputTool(agents),
    blockingTool(agents),
  ];
}

const prompt = z.string().refine((text) => text.trim() !== "", "must not be blank");
const subagentType = z
  .string()
  .optional()
  .describe("generalPurpose (the default), explore (reads only), or a type of the settings.");

function spawnTool(manager: () => AgentManager): Tool {
  return defineTool({
    name: "AgentSpawn",
    description:
      "Starts an agent on a task of its own and returns its id at once. Its result is handed to you when it ends.",
    input: z.object({
      prompt: prompt.describe("The task, with everything the agent has to know."),
      subagent_type: subagentType,
      name: z.string().optional().describe("A short title."),
      model_profile: z.string().optional().describe("A model profile of the settings."),
      callback: flag("Hand the result over when the agent ends. Default true."),
    }),
    isReadOnly: false,
    isConcurrencySafe: true,
    run: (input, context) =>
      answered(() => {
        const agents = manager();
        const agent = agents.spawn(
          {
            prompt: input.prompt.toWellFormed(),
            type: input.subagent_type ?? "",
            name: input.name?.toWellFormed(),
            modelProfile: input.model_profile,
            hasCallback: input.callback !== false,
            isInteractive: context.isInteractive,
            toolUseId: context.toolUseId,
          },
          callerOf(agents, context),
        );
        return { result: `Spawned agent: ${agent.id}`, isError: false, data: { agent_id: agent.id } };
      }),
  });
}

function statusTool(manager: () => AgentManager): Tool {
  return defineTool({
    name: "AgentStatus",
    description: "Shows how one agent is doing, or all of them.",
    input: z.object({ agent_id: z.string().optional() }),
    isReadOnly: true,
    isConcurrencySafe: true,
    run: ({ agent_id }, context) =>
      answered(() => {
        const agents = manager();
        const caller = callerOf(agents, context);
        const shown = agent_id === undefined ? agents.reachable(caller) : [agents.get(agent_id, caller)];
        if (shown.length === 0) return { result: "There are no agents.", isError: false };
        return described(agents, shown, false);
      }),
  });
}

function waitTool(manager: () => AgentManager): Tool {
  return defineTool({
    name: "AgentWait",
    description: "Waits until an agent has ended: the first of several, or all of them.",
    input: z.object({
      agent_id: z.string().optional(),
      agent_ids: z.array(z.string()).optional(),
      wait_any: flag("Return with the first that ends. False waits for all. Default true."),
      timeout_seconds: wholeNumber("How long to wait at most."),
    }),
    isReadOnly: true,
    isConcurrencySafe: true,
    check: ({ agent_id, agent_ids = [] }) =>
      agent_id === undefined && agent_ids.length === 0 ? "agent_id or agent_ids is needed" : undefined,
    run: ({ agent_id, agent_ids = [], wait_any = true, timeout_seconds }, context) =>
      answered(async () => {
        const agents = manager();
        const caller = callerOf(agents, context);
        const ids = new Set([...(agent_id === undefined ? [] : [agent_id]), ...agent_ids]);
        const wanted = [...ids].map((id) => agents.get(id, caller));
        using _waiting = agents.waiting(caller);
        const endMs =
          timeout_seconds === undefined ? undefined : context.clock.now() + timeout_seconds * 1000;
        const over: Agent[] = [];
        while (over.length < (wait_any ? 1 : wanted.length)) {
          const timeoutMs = endMs === undefined ? undefined : endMs - context.clock.now();
          const left = wanted.filter((agent) => !over.includes(agent));
          const first = await agents.waitAny(left, { timeoutMs, signal: context.signal });
          if (first === undefined)
            return failed(`status: timeout\nnothing ended within ${timeout_seconds} s`);
          over.push(first);
        }
        return described(agents, wait_any ? over : wanted, false);
      }),
  });
}

function cancelTool(manager: () => AgentManager): Tool {
  return defineTool({
    name: "AgentCancel",
    description: "Stops an agent and the agents it spawned.",
    input: z.object({ agent_id: z.string() }),
    isReadOnly: false,
    isConcurrencySafe: true,
    run: ({ agent_id }, context) =>
      answered(async () => {
        const agents = manager();
        const agent = agents.get(agent_id, callerOf(agents, context));
        const isStopped = await agents.cancel(agent);
        return {
          result: isStopped
            ? `Stopped agent: ${agent.id}`
            : `Agent ${agent.id} had ended: ${agent.record.status}`,
          isError: false,
        };
      }),
  });
}

function sendInputTool(manager: () => AgentManager): Tool {
  return defineTool({
    name: "AgentSendInput",
    description: "Gives an agent that has ended more to do. Its conversation goes on.",
    input: z.object({
      agent_id: z.string(),
      prompt: prompt.describe("The next message of the agent's conversation."),
      interrupt: flag("Stop the agent first if it runs. Default false."),
    }),
    isReadOnly: false,
    isConcurrencySafe: true,
    run: ({ agent_id, prompt: text, interrupt = false }, context) =>
      answered(async () => {
        const agents = manager();
        const caller = callerOf(agents, context);
        const agent = agents.get(agent_id, caller);
        await agents.input(agent, { prompt: text.toWellFormed(), interrupt }, caller);
        return { result: `Sent input to agent: ${agent.id}`, isError: false };
      }),
  });
}

function blockingTool(manager: () => AgentManager): Tool {
  return defineTool({
    name: "Agent",
    description: "Gives a task to an agent and waits for its result.",
    input: z.object({
      prompt: z.string().optional().describe("The task, with everything the agent has to know."),
      subagent_type: subagentType,
    }),
    aliases: { prompt: ["task", "instruction", "query", "message", "description"] },
    isReadOnly: false,
    isConcurrencySafe: true,
    run: (input, context) =>
      answered(async () => {
        const agents = manager();
        const { timeoutMs } = agents.settings;
        const text = [input.prompt ?? "", agents.latestUserText].find((candidate) => candidate.trim() !== "");
        if (text === undefined) return failed("Error: the task is blank");
        const caller = callerOf(agents, context);
        const agent = agents.spawn(
          {
            prompt: text.toWellFormed(),
            type: input.subagent_type ?? "",
            name: undefined,
            modelProfile: undefined,
            hasCallback: false,
            isInteractive: context.isInteractive,
            toolUseId: context.toolUseId,
          },
          caller,
        );
        using _waiting = agents.waiting(caller);
        try {
          await agents.waitAny([agent], { timeoutMs, signal: context.signal });
        } catch (interrupt) {
          // Nobody waits for it any more.
          await agents.cancel(agent);
          throw interrupt;
        }
        return described(agents, [agent], agent.record.status !== "completed");
      }),
  });
}

function callerOf(agents: AgentManager, { agentId, operationId }: ToolContext): AgentCaller {
  return { agent: agentId === null ? undefined : agents.find(agentId), operationId };
}

function described(
  { sessionId, settings }: AgentManager,
  shown: readonly Agent[],
  isError: boolean,
): ToolOutcome {
  const share = Math.max(1, Math.floor(settings.maxOutputChars / shown.length));
  const result = shown.map((agent) => describeAgent(agent.snapshot(sessionId), share)).join("\n\n");
  const lines = result.split("\n");
  const rest = lines.length - MAX_DISPLAY_LINES;
  if (rest <= 0) return { result, isError };
  return {
    result,
    isError,
    display: [...lines.slice(0, MAX_DISPLAY_LINES), `... [${rest} more lines]`].join("\n"),
  };
}

/** A refusal of the session is the result of the call. */
async function answered(call: () => ToolOutcome | Promise<ToolOutcome>): Promise<ToolOutcome> {
  try {
    return await call();
  } catch (thrown) {
    if (!CrabcodeError.isInstance(thrown)) throw thrown;
    return failed(`Error: ${thrown.message}`);
  }
}
