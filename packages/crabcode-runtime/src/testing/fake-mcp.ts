import { abortable } from "@trivium/core";
import type {
  McpAnswer,
  McpPort,
  McpServerDefinition,
  McpToolDescription,
  OpenMcp,
} from "../ports/mcp-port.ts";

type Call = Parameters<McpPort["callTool"]>;

/** MCP servers that are played by the test. */
export class FakeMcp {
  /** What each session asked for, by session. */
  readonly opened: Map<string, Readonly<Record<string, McpServerDefinition>>> = new Map();
  readonly calls: { readonly name: string; readonly input: unknown }[] = [];
  /** What the servers list now. */
  tools: McpToolDescription[] = [];
  /** Settles when every server is connected or has failed. */
  connected: Promise<void> = Promise.resolve();
  startCount = 0;
  /** What each retry was told. */
  readonly retries: number[] = [];
  disposeCount = 0;
  answer: (...call: Call) => Promise<McpAnswer> = async () => textAnswer("done");

  readonly open: OpenMcp = ({ sessionId, servers }) => {
    this.opened.set(sessionId, servers);
    return {
      start: () => {
        this.startCount += 1;
      },
      retry: (afterMs) => {
        this.retries.push(afterMs);
      },
      settled: (_timeoutMs, signal) => abortable(this.connected, signal),
      tools: () => this.tools,
      callTool: (...call) => {
        this.calls.push({ name: call[0].name, input: call[1] });
        return this.answer(...call);
      },
      [Symbol.asyncDispose]: async () => {
        this.disposeCount += 1;
      },
    };
  };
}

export function textAnswer(text: string): McpAnswer {
  return { kind: "result", content: [{ kind: "text", text }], structured: undefined, isError: false };
}

/** A tool of a server, as its server describes it. */
export function mcpTool(
  server: string,
  name: string,
  more: Partial<McpToolDescription> = {},
): McpToolDescription {
  return {
    server,
    name,
    description: `does ${name}`,
    inputSchema: { type: "object", properties: { path: { type: "string" } } },
    hints: { readOnly: false },
    ...more,
  };
}
