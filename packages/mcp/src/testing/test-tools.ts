import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type Tool,
} from "@modelcontextprotocol/sdk/types.js";

type Input = Readonly<Record<string, unknown>>;

interface TestTool extends Pick<Tool, "description" | "inputSchema" | "annotations"> {
  run(input: Input, signal: AbortSignal): CallToolResult | Promise<CallToolResult>;
}

/** A red picture of one pixel, PNG in Base64. */
export const testImage =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** A server with tools for every case a client has to deal with. */
export function createTestServer(): Server {
  const server = new Server(
    { name: "test-server", version: "1.0.0" },
    { capabilities: { tools: { listChanged: true } } },
  );
  const tools: Record<string, TestTool> = {
    ...testTools,
    add_tool: {
      description: "Adds a tool to the list and tells the client.",
      inputSchema: schemaOf({ name: { type: "string" } }),
      async run({ name }) {
        tools[String(name)] = echo;
        await server.sendToolListChanged();
        return text("added");
      },
    },
  };
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(tools).map(([name, { description, inputSchema, annotations }]) => ({
      name,
      description,
      inputSchema,
      annotations,
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = tools[params.name];
    if (tool === undefined) return { ...text(`no tool named ${params.name}`), isError: true };
    return await tool.run(params.arguments ?? {}, signal);
  });
  return server;
}

const text = (value: string): CallToolResult => ({ content: [{ type: "text", text: value }] });

function schemaOf(properties: Record<string, object>): Tool["inputSchema"] {
  return { type: "object", properties };
}

const echo: TestTool = {
  description: "Answers with the text it was given.",
  inputSchema: schemaOf({ text: { type: "string", description: "What to answer." } }),
  run: ({ text: given }) => text(String(given)),
};

const testTools: Readonly<Record<string, TestTool>> = {
  echo,
  fail: {
    description: "Reports that it could not do what was asked.",
    inputSchema: schemaOf({ message: { type: "string" } }),
    run: ({ message }) => ({ ...text(String(message)), isError: true }),
  },
  refuse: {
    description: "Is answered with a protocol error.",
    inputSchema: schemaOf({}),
    run() {
      throw new Error("refused by the server");
    },
  },
  slow: {
    description: "Answers after a minute, or notes in a file that it was cancelled.",
    inputSchema: schemaOf({ cancelled_file: { type: "string" } }),
    async run({ cancelled_file: file }, signal) {
      try {
        await delay(60_000, undefined, { signal });
      } catch {
        if (typeof file === "string") writeFileSync(file, "cancelled");
      }
      return text("late");
    },
  },
  image: {
    description: "Shows a picture with a caption.",
    inputSchema: schemaOf({}),
    run: () => ({
      content: [
        { type: "text", text: "a red dot" },
        { type: "image", data: testImage, mimeType: "image/png" },
      ],
    }),
  },
  resource: {
    description: "Answers with a document.",
    inputSchema: schemaOf({}),
    run: () => ({
      content: [{ type: "resource", resource: { uri: "test://document", text: "content" } }],
    }),
  },
  structured: {
    description: "Answers with values only.",
    inputSchema: schemaOf({}),
    run: () => ({ content: [], structuredContent: { answer: 42 } }),
  },
  huge: {
    description: "Answers with a text of a wanted size.",
    inputSchema: schemaOf({ bytes: { type: "integer" } }),
    run: ({ bytes }) => text("0123456789".repeat(Math.ceil(Number(bytes) / 10)).slice(0, Number(bytes))),
  },
  variables: {
    description: "Lists the names of the environment variables.",
    inputSchema: schemaOf({}),
    run: () => text(Object.keys(process.env).sort().join("\n")),
  },
  start_child: {
    description: "Starts a process in a session of its own and answers with its number.",
    inputSchema: schemaOf({}),
    run() {
      const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
      child.unref();
      return text(String(child.pid));
    },
  },
  crash: {
    description: "Ends the server.",
    inputSchema: schemaOf({}),
    run: () => process.exit(3),
  },
  crash_once: {
    description: "Ends the server, unless the file is there; changes nothing else.",
    inputSchema: schemaOf({ file: { type: "string" } }),
    annotations: { readOnlyHint: true },
    run({ file }) {
      if (existsSync(String(file))) return text("survived");
      writeFileSync(String(file), "crashed");
      return process.exit(3);
    },
  },
};
