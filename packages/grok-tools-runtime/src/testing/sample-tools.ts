import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import { absentable, lenientBoolean, lenientInteger } from "../input/lenient.ts";
import type { ResourceDefinition } from "../session-resource.ts";
import { defineTool, type Tool } from "../tool.ts";

/** Answers with what it is told. */
export const echo: Tool = defineTool({
  id: "Sample:echo",
  kind: "read",
  capabilities: { readOnly: true },
  behaviorVersions: [
    { version: "current", lifecycle: "active" },
    { version: "legacy-0.4.10", lifecycle: "active" },
    { version: "old", lifecycle: "deprecated", replacement: "current" },
    { version: "older", lifecycle: "removal-candidate", replacement: "current" },
  ],
  description: "Answers with `${{ params.read.text }}`. At most {max_output_bytes} bytes.",
  input: z.object({
    text: z.string().describe("What to say, see ${{ tools.by_kind.search }}."),
    times: lenientInteger({ min: 0, max: 1000 }).default(1),
    loud: lenientBoolean().default(false),
    note: absentable(z.string()),
    items: z.array(z.object({ id: z.string() })).default([]),
  }),
  params: {
    stateKey: "sample.Echo",
    schema: z.object({ prefix: z.string().default(""), mode: z.enum(["a", "b"]).default("a") }),
    check: ({ prefix, mode }) =>
      prefix === "!" && mode === "b" ? [{ key: "prefix", expected: "no !", message: "no ! in mode b" }] : [],
  },
  output: {
    schema: z.object({
      type: z.literal("Text"),
      text: z.string(),
      data: z.array(z.int()),
      where: z.string(),
    }),
    fields: [
      { name: "text", description: "The text.", type: "string", potentiallyLarge: true },
      { name: "data", description: "Its bytes.", type: "array", defaultOnly: true },
      { name: "where", description: "The folder.", type: "string" },
    ],
  },
  truncation: { builtInMaxOutput: 40_000 },
  run: ({ text, times, loud }, context) => {
    const said = context.params.prefix + (loud ? text.toUpperCase() : text).repeat(times);
    const output = {
      type: "Text",
      text: said,
      text_concise: said.slice(0, 1),
      data: new TextEncoder().encode(said),
      where: context.workingDirectory,
    };
    return Promise.resolve({ output, promptText: said, concisePromptText: said.slice(0, 1) });
  },
});

/** Always fails, in the ways tools fail. */
export const fail: Tool = defineTool({
  id: "Sample:fail",
  kind: "search",
  capabilities: { readOnly: true },
  description: "Fails.",
  input: z.object({ how: z.enum(["missing", "bug", "bytes"]).default("missing") }),
  output: { schema: z.object({ type: z.literal("ReadFile") }), fields: [] },
  run: ({ how }) => {
    if (how === "bug") throw new TypeError("secret /home/someone");
    const text = "there is no such file";
    const payload = how === "bytes" ? { stdout: new Uint8Array([0xff]) } : text;
    return Promise.resolve({
      output: { type: "ReadFile", FileNotFound: payload },
      promptText: text,
      failure: { code: ErrorCode.FILE_NOT_FOUND, filePath: "/w/a", suggestion: "Look elsewhere." },
    });
  },
});

/** A counter that lives in the session and is saved. */
export const counter: ResourceDefinition<{ count: number; isDisposed: boolean }> = {
  name: "counter",
  create: () => ({ count: 0, isDisposed: false }),
  dispose: (resource) => {
    resource.isDisposed = true;
  },
  state: {
    key: "sample.Counter",
    load(resource, value) {
      if (typeof value !== "number") return false;
      resource.count = value;
      return true;
    },
    save: ({ count }) => count,
  },
  reminders: ({ count }) => (count === 3 ? ["counted to three"] : []),
};

/** Counts its calls. */
export const count: Tool = defineTool({
  id: "Sample:count",
  kind: "edit",
  capabilities: { readOnly: false },
  description: "Counts.",
  input: z.object({}),
  output: { schema: z.object({ type: z.literal("Text"), count: z.int() }), fields: [] },
  resources: [counter],
  requires: ({ toolset }) =>
    toolset.hasKind("read") ? undefined : { message: "count needs a reading tool", fieldPath: "tools" },
  run: (_input, context) => {
    const resource = context.resource(counter);
    resource.count++;
    return Promise.resolve({
      output: { type: "Text", count: resource.count },
      promptText: String(resource.count),
    });
  },
});

/** Runs until it is told to stop, and tells how that went through `waiting`. */
export function waitingTool(waiting: { started: () => void; ended: (reason: unknown) => void }): Tool {
  return defineTool({
    id: "Sample:wait",
    kind: "execute",
    capabilities: {
      readOnly: false,
      cancellable: true,
      backgroundParameter: "is_background",
      timeoutParameter: "timeout",
    },
    description: "Waits.",
    input: z.object({
      timeout: absentable(lenientInteger({ min: 1 })),
      is_background: lenientBoolean().default(false),
    }),
    output: { schema: z.object({ type: z.literal("Text") }), fields: [] },
    async run({ is_background: isBackground }, { signal, timeoutMs, progress }) {
      if (isBackground) return { output: { type: "Text", text: "background" }, promptText: "background" };
      if (timeoutMs !== undefined) progress({ bytes: new Uint8Array([1]), offset: 0 });
      waiting.started();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      waiting.ended(signal.reason);
      throw signal.reason;
    },
  });
}

/** Works only with a backend that no server has. */
export const unavailable: Tool = defineTool({
  id: "Sample:unavailable",
  kind: "web_search",
  capabilities: { readOnly: true },
  description: "Needs a provider.",
  input: z.object({ query: z.string() }),
  output: { schema: z.object({ type: z.literal("WebSearch") }), fields: [] },
  dependency: { name: "web_search_provider", setting: "tools.webSearch", isConfigured: () => false },
  run: () => Promise.reject(new Error("must not run")),
});
