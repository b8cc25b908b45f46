import { type Client, createClient, createRouterTransport } from "@connectrpc/connect";
import { silentLogger } from "@trivium/core";
import { ManualClock, sequentialIds, temporaryFolder } from "@trivium/core/testing";
import {
  createGrokToolsRuntime,
  createToolRegistry,
  defineTool,
  type GrokToolsRuntime,
  type Tool,
} from "@trivium/grok-tools-runtime";
import { ErrorCode, GrokToolsService } from "@trivium/proto/grok-tools";
import { errorInterceptor } from "@trivium/rpc";
import { z } from "zod";
import { grokToolsService } from "../grok-tools-service.ts";

/** Says what it is told. */
export const say: Tool = defineTool({
  id: "Sample:say",
  kind: "read",
  capabilities: { readOnly: true },
  behaviorVersions: [{ version: "current", lifecycle: "active" }],
  description: "Says `${{ params.read.text }}`.",
  input: z.object({ text: z.string(), pad: z.number().default(0) }),
  params: {
    stateKey: "sample.Say",
    schema: z.object({ loud: z.boolean().default(false), tone: z.enum(["a", "b"]).default("a") }),
  },
  output: {
    schema: z.object({ type: z.literal("Text"), text: z.string(), data: z.array(z.int()) }),
    fields: [
      { name: "text", description: "What was said.", type: "string", potentiallyLarge: true },
      { name: "data", description: "As bytes.", type: "array", defaultOnly: true },
    ],
  },
  truncation: { builtInMaxOutput: Number.POSITIVE_INFINITY },
  run: ({ text, pad }, { params }) =>
    Promise.resolve({
      output: { type: "Text", text, data: new TextEncoder().encode(text) },
      promptText: (params.loud ? text.toUpperCase() : text) + "x".repeat(pad),
    }),
});

/** Reports a missing file. */
export const fail: Tool = defineTool({
  id: "Sample:fail",
  kind: "search",
  capabilities: { readOnly: true },
  description: "Fails.",
  input: z.object({}),
  output: { schema: z.object({ type: z.literal("ReadFile") }), fields: [] },
  run: () =>
    Promise.resolve({
      output: { type: "ReadFile", FileNotFound: "gone" },
      promptText: "gone",
      failure: {
        code: ErrorCode.FILE_NOT_FOUND,
        filePath: "/w/gone",
        lineNumber: 3,
        suggestion: "Look elsewhere.",
      },
    }),
});

/** Needs a backend no server has; its name is not unique. */
export const unavailable: Tool = defineTool({
  id: "Other:say",
  kind: "web_search",
  capabilities: { readOnly: true },
  description: "Needs a provider.",
  input: z.object({}),
  output: { schema: z.object({ type: z.literal("WebSearch") }), fields: [] },
  dependency: { name: "web_search_provider", setting: "tools.webSearch", isConfigured: () => false },
  run: () => Promise.reject(new Error("must not run")),
});

/** Runs until its signal aborts. */
export function waitingTool(): { tool: Tool; started: Promise<void>; ended: Promise<void> } {
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const tool = defineTool({
    id: "Sample:wait",
    kind: "execute",
    capabilities: { readOnly: true, cancellable: true },
    description: "Waits.",
    input: z.object({}),
    output: { schema: z.object({ type: z.literal("Text") }), fields: [] },
    async run(_input, { signal }) {
      started.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      ended.resolve();
      throw signal.reason;
    },
  });
  return { tool, started: started.promise, ended: ended.promise };
}

const notUsed = (): never => {
  throw new Error("no tool of this test runs programs");
};

/** A service over some tools in a fresh folder, with time that stands still. */
export interface TestService extends AsyncDisposable {
  readonly client: Client<typeof GrokToolsService>;
  readonly clock: ManualClock;
  readonly runtime: GrokToolsRuntime;
}

/** Opens a {@link TestService}. */
export async function service(tools: readonly Tool[] = [say, fail, unavailable]): Promise<TestService> {
  const folder = await temporaryFolder();
  const clock = new ManualClock();
  const runtime = createGrokToolsRuntime({
    registry: createToolRegistry(tools),
    workspace: folder.path,
    dataDir: `${folder.path}/data`,
    commandRunner: { start: notUsed, containment: notUsed, stats: notUsed, [Symbol.asyncDispose]: notUsed },
    programRunner: { run: notUsed },
    clock,
    ids: sequentialIds(),
    logger: silentLogger,
  });
  const transport = createRouterTransport(grokToolsService({ runtime }), {
    router: { interceptors: [errorInterceptor] },
  });
  return {
    client: createClient(GrokToolsService, transport),
    clock,
    runtime,
    async [Symbol.asyncDispose]() {
      await runtime[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Call options with request metadata. */
export const headers = (values: Record<string, string>): { headers: Record<string, string> } => ({
  headers: values,
});

/** A configuration with the two tools that work everywhere. */
export const all: { tools: { id: string }[] } = { tools: [{ id: "Sample:say" }, { id: "Sample:fail" }] };
