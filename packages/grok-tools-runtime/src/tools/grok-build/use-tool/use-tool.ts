import type { McpCallOutcome, McpFailure, McpTool } from "@trivium/mcp";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import { boundOutput } from "../../../mcp/bound-output.ts";
import { renderContent } from "../../../mcp/render-content.ts";
import { sessionMcp } from "../../../mcp/session-mcp.ts";
import {
  defineTool,
  type LogicalFailure,
  type Tool,
  type ToolContext,
  type ToolOutput,
  type ToolResult,
} from "../../../tool.ts";
import { findMcpTool } from "./find-mcp-tool.ts";
import { type UseToolInput, useToolInput } from "./use-tool-input.ts";
import { type UseToolParams, useToolParams } from "./use-tool-params.ts";

/** Bytes of text in an answer unless configured otherwise. */
const DEFAULT_MAX_BYTES = 20_000;
const LIMIT_VARIABLES = ["GROK_MAX_MCP_OUTPUT_BYTES", "MAX_MCP_OUTPUT_BYTES"];

/** GrokBuild:use_tool: calls a tool of an MCP server. */
export const useTool: Tool = defineTool({
  id: "GrokBuild:use_tool",
  kind: "use_tool",
  capabilities: { readOnly: false, cancellable: true },
  description: `Calls a tool of an MCP server.

- Find the name and the input schema with \`\${{ tools.by_kind.search_tool }}\` first, and give what the schema demands.
- Only for MCP tools: call the other tools of this session directly.
- A long answer is cut; the end then names a file with all of it.`,
  input: useToolInput,
  params: useToolParams,
  output: {
    schema: z.object({
      type: z.literal("MCP"),
      tool_name: z.string(),
      server_name: z.string(),
      output: z.union([z.object({ OkayOutput: z.string() }), z.object({ Error: z.string() })]),
      is_error: z.boolean().optional(),
      reconnect_attempted: z.boolean().optional(),
      auth_retry_attempted: z.boolean().optional(),
      is_timeout: z.boolean().optional(),
    }),
    fields: [
      { name: "tool_name", description: "Name of the tool that was called.", type: "string" },
      { name: "server_name", description: "Its server.", type: "string" },
      { name: "output", description: "OkayOutput or Error.", type: "object", potentiallyLarge: true },
      { name: "is_error", description: "The tool could not do what was asked.", type: "boolean" },
      { name: "reconnect_attempted", description: "The connection was made anew.", type: "boolean" },
      { name: "is_timeout", description: "There was no answer in time.", type: "boolean" },
    ],
  },
  resources: [sessionMcp],
  // The tool bounds its text itself.
  truncation: { builtInMaxOutput: Number.POSITIVE_INFINITY },
  run: use,
});

async function use(given: UseToolInput, context: ToolContext<UseToolParams>): Promise<ToolResult> {
  const qualifiedName = given.tool_name.trim();
  const tool = await findMcpTool(qualifiedName, context);
  const { servers } = context.resource(sessionMcp);
  const outcome = await servers.callTool(tool, given.tool_input, context.signal);
  return await toResult({ qualifiedName, tool, outcome }, context);
}

interface FinishedCall {
  readonly qualifiedName: string;
  readonly tool: McpTool;
  readonly outcome: McpCallOutcome;
}

async function toResult(
  { qualifiedName, tool, outcome }: FinishedCall,
  context: ToolContext<UseToolParams>,
): Promise<ToolResult> {
  const failure = failureOf(outcome);
  const { text, media, imageCount } =
    outcome.kind === "result" ? renderContent(outcome) : noMedia(describe(outcome, tool));
  const bound = await boundOutput(text, { ...context, maxBytes: maxBytesOf(context) });
  const whole = [bound.text, ...media].join("\n");
  const output: ToolOutput = {
    type: "MCP",
    tool_name: qualifiedName,
    server_name: tool.server,
    output: failure === undefined ? { OkayOutput: whole } : { Error: whole },
    is_error: failure === undefined ? undefined : true,
    reconnect_attempted: outcome.wasReconnected ? true : undefined,
    is_timeout: isTimeout(outcome) ? true : undefined,
  };
  return { output, promptText: bound.text, failure, truncated: bound.isCut, imageCount };
}

const noMedia = (text: string): ReturnType<typeof renderContent> => ({ text, media: [], imageCount: 0 });

function describe({ message }: McpFailure, { server, name }: McpTool): string {
  return `${name} of the MCP server ${server} gave no answer: ${message}`;
}

const isTimeout = (outcome: McpCallOutcome): boolean =>
  outcome.kind === "failure" && outcome.reason === "timed-out";

function failureOf(outcome: McpCallOutcome): LogicalFailure | undefined {
  if (outcome.kind === "result") {
    return outcome.isError ? { code: ErrorCode.EXECUTION_FAILED } : undefined;
  }
  switch (outcome.reason) {
    case "timed-out":
      return {
        code: ErrorCode.TIMEOUT,
        retryable: true,
        suggestion: "Try again with less to do, or do without this tool.",
      };
    case "unauthorized":
      return {
        code: ErrorCode.PERMISSION_DENIED,
        reason: "unauthorized",
        suggestion: "Tell the user that the MCP server does not accept the configured credentials.",
      };
    case "unavailable":
      return { code: ErrorCode.EXECUTION_FAILED, retryable: true };
    case "refused":
      return { code: ErrorCode.EXECUTION_FAILED };
  }
}

/** The toolset's limit, else the one in the server's environment, else the usual one. */
function maxBytesOf({ limits, environment }: ToolContext<UseToolParams>): number {
  if (limits.maxOutputConfigured) return limits.maxOutput;
  for (const name of LIMIT_VARIABLES) {
    const value = environment[name];
    if (value !== undefined && /^[1-9]\d{0,9}$/.test(value)) return Number(value);
  }
  return DEFAULT_MAX_BYTES;
}
