import { toPropertyName } from "../tools/property-name.ts";
import { canonicalToolName, type ToolDefinition } from "../tools/tool-definition.ts";
import { describeTool, fence, hasMcpResult } from "./describe-tool.ts";
import { helperText } from "./helper-text.ts";
import { MCP_TYPES } from "./mcp-types.ts";

/** What the two tools of code mode are rendered for. */
export interface RenderToolsOptions {
  /** Tools that programs may call and the model is told of. */
  readonly tools: readonly ToolDefinition[];
  /** Tools that programs may call and must find in `ALL_TOOLS`. */
  readonly deferredTools?: readonly ToolDefinition[];
  /** True: the model has no other tools, so the description of `exec` holds theirs. Default false. */
  readonly isOnlyMode?: boolean;
  /** By namespace. Blank ones are left out. */
  readonly namespaceDescriptions?: Readonly<Record<string, string>>;
  /** Wait of an `exec` that names none. Default 10 000. */
  readonly yieldTimeMs?: number;
  /** True: nothing is said of the `detail` of images. Default false. */
  readonly hidesImageDetail?: boolean;
}

/** The tools that a model is offered. */
export interface RenderedTools {
  /** Takes the program as plain text. */
  readonly exec: { readonly name: "exec"; readonly description: string; readonly grammar: string };
  readonly wait: {
    readonly name: "wait";
    readonly description: string;
    /** JSON Schema. */
    readonly parameters: Readonly<Record<string, unknown>>;
  };
  /** What programs may call, deferred ones included, with the declaration in each description. */
  readonly nestedTools: readonly ToolDefinition[];
}

const DEFAULT_YIELD_MS = 10_000;
const DEFAULT_OUTPUT_TOKENS = 10_000;

/** Lark grammar of the text: an optional line of options, then a source that is not empty. */
const GRAMMAR = `start: pragma_source | plain_source
pragma_source: PRAGMA_LINE NEWLINE SOURCE
plain_source: SOURCE

PRAGMA_LINE: /[ \\t]*\\/\\/ @exec:[^\\r\\n]*/
NEWLINE: /\\r?\\n/
SOURCE: /[\\s\\S]+/
`;

/**
 * The tools `exec` and `wait` as a model is shown them, and the nested tools for the programs. A nested tool named like
 * one of the two is left out.
 */
export function renderTools(options: RenderToolsOptions): RenderedTools {
  const shown = options.tools.filter(isNested);
  const deferred = (options.deferredTools ?? []).filter(isNested);
  return {
    exec: { name: "exec", description: describeExec(options, { shown, deferred }), grammar: GRAMMAR },
    wait: {
      name: "wait",
      description:
        "Waits for a program that `exec` left running, and gives the output that has come since. With `terminate` it ends the program instead.",
      parameters: waitParameters,
    },
    nestedTools: [...shown, ...deferred].map((tool) => ({ ...tool, description: describeTool(tool) })),
  };
}

/** True unless the name is one that the model's own tools have. */
export function isNested({ name, toolName = name, namespace }: ToolDefinition): boolean {
  const canonical = canonicalToolName(toolName, namespace);
  return canonical !== EXEC && canonical !== WAIT && name !== "exec" && name !== "wait";
}

const EXEC = canonicalToolName("exec", undefined);
const WAIT = canonicalToolName("wait", undefined);

const waitParameters = {
  type: "object",
  properties: {
    cell_id: { type: "string", description: "The cell ID that exec gave." },
    yield_time_ms: {
      type: "number",
      default: DEFAULT_YIELD_MS,
      description: "Milliseconds to wait before the output so far is handed over.",
    },
    max_tokens: {
      type: "number",
      default: DEFAULT_OUTPUT_TOKENS,
      description: "Most tokens of output to give; more is cut in the middle.",
    },
    terminate: { type: "boolean", default: false, description: "True ends the program." },
  },
  required: ["cell_id"],
  additionalProperties: false,
};

interface NestedTools {
  readonly shown: readonly ToolDefinition[];
  readonly deferred: readonly ToolDefinition[];
}

function describeExec(options: RenderToolsOptions, { shown, deferred }: NestedTools): string {
  const { isOnlyMode = false, yieldTimeMs = DEFAULT_YIELD_MS, hidesImageDetail = false } = options;
  const sections = [
    [
      "Runs JavaScript as an async module in a fresh V8 isolate and gives its output.",
      "- Nested tools are functions of the global `tools`, for example `await tools.read_file({ path })`. Names have every character that JavaScript does not take in a name replaced by `_`. A tool takes one string or one object, as it declares, and gives a promise.",
      "- There is no Node.js, no file system, no network and no console: whatever reaches outside goes through nested tools, and only helpers produce output.",
      "- Send raw source: no JSON, no quotes around it, no Markdown fences.",
      `- The first line may be \`// @exec: {"yield_time_ms": ${yieldTimeMs}, "max_output_tokens": ${DEFAULT_OUTPUT_TOKENS}}\`, with either field or both. \`yield_time_ms\` (default ${yieldTimeMs}) is how long to wait before the output so far is handed over while the program runs on; look at it again with \`wait\`. \`max_output_tokens\` (default ${DEFAULT_OUTPUT_TOKENS}) cuts the output.`,
      "- The program ends with the module: work that nobody awaits is dropped then, timers and tool calls too.",
    ].join("\n"),
    helperText({ hidesImageDetail }),
  ];
  if (deferred.length > 0) {
    sections.push(
      "Some nested tools are not described here. They are in `ALL_TOOLS` and on `tools` all the same: look for them by filtering `ALL_TOOLS` by name and description.",
    );
  }
  if (isOnlyMode) {
    if ([...shown, ...deferred].some(hasMcpResult)) {
      sections.push(`Shared MCP Types:\n${fence(MCP_TYPES)}`);
    }
    sections.push(...describeNested(shown, options.namespaceDescriptions ?? {}));
  }
  return sections.join("\n\n");
}

function describeNested(
  tools: readonly ToolDefinition[],
  namespaceDescriptions: Readonly<Record<string, string>>,
): string[] {
  let current: string | undefined;
  return tools.flatMap((tool) => {
    const { name, namespace } = tool;
    const sections: string[] = [];
    if (namespace !== current) {
      current = namespace;
      const about = namespace === undefined ? "" : (namespaceDescriptions[namespace] ?? "").trim();
      if (about !== "") sections.push(`## ${namespace}\n${about}`);
    }
    const property = toPropertyName(name);
    const heading = property === name ? `### \`${name}\`` : `### \`${property}\` (\`${name}\`)`;
    return [...sections, `${heading}\n${describeTool(tool)}`];
  });
}
