import { TriviumError } from "@trivium/core";
import { toJsonSchema } from "./catalogue/json-schema.ts";
import { closestNames } from "./closest-names.ts";
import { isJsonObject, type JsonObject } from "./json.ts";
import type { Tool } from "./tool.ts";
import { defaultClientName, isToolName, namespaceOf } from "./tool-id.ts";

/** All tools of a server, in the order they are listed before finalize. */
export interface ToolRegistry {
  readonly tools: readonly RegisteredTool[];
  /** By exact id; an alias gives the tool it stands for. */
  find(id: string): RegisteredTool | undefined;
  /** Ids that may have been meant: a close one of the same namespace, or the same name in another namespace. */
  suggestIds(id: string): string[];
}

/** A tool with what is computed once. Schemas are canonical: names and params not applied. */
export interface RegisteredTool {
  readonly tool: Tool;
  readonly namespace: string;
  /** The part of the id after the colon. */
  readonly canonicalName: string;
  readonly inputSchema: JsonObject;
  readonly inputProperties: readonly string[];
  readonly outputSchema: JsonObject;
  readonly paramsSchema: JsonObject | undefined;
  readonly defaultParams: JsonObject | undefined;
}

/** Ids that mean another tool at finalize; they are not listed. */
const aliases: Readonly<Record<string, string>> = { "GrokBuild:bash": "GrokBuild:run_terminal_cmd" };

/**
 * Checks the tools and computes their schemas.
 *
 * @throws {@link TriviumError} `internal` for two tools with one id, a malformed id, an output field listed twice, or
 * params without a default for every key: faults of the build, found at start.
 */
export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const byId = new Map<string, RegisteredTool>();
  for (const tool of tools) {
    if (byId.has(tool.id)) throw new TriviumError("internal", `two tools have the id ${tool.id}`);
    byId.set(tool.id, register(tool));
  }
  const registered = [...byId.values()];
  const ids = [...byId.keys()];
  return {
    tools: registered,
    find: (id) => byId.get(aliasTarget(id)),
    suggestIds(id) {
      const sameNamespace = ids.filter((other) => namespaceOf(other) === namespaceOf(id));
      const sameName = ids.filter(
        (other) => other !== id && defaultClientName(other) === defaultClientName(id),
      );
      return [...new Set([...closestNames(id, sameNamespace, 3), ...sameName])];
    },
  };
}

/** The id a finalize entry really means. */
export function aliasTarget(id: string): string {
  return Object.hasOwn(aliases, id) ? (aliases[id] ?? id) : id;
}

function register(tool: Tool): RegisteredTool {
  if (namespaceOf(tool.id) === "" || !isToolName(tool.id)) {
    throw new TriviumError("internal", `the tool id ${tool.id} is not Namespace:name`);
  }
  const fields = tool.output.fields.map(({ name }) => name);
  if (new Set(fields).size !== fields.length) {
    throw new TriviumError("internal", `${tool.id} lists an output field twice`);
  }
  const inputSchema = toJsonSchema(tool.input);
  const properties = inputSchema["properties"];
  return {
    tool,
    namespace: namespaceOf(tool.id),
    canonicalName: defaultClientName(tool.id),
    inputSchema,
    inputProperties: isJsonObject(properties) ? Object.keys(properties) : [],
    outputSchema: toJsonSchema(tool.output.schema, "output"),
    paramsSchema: tool.params === undefined ? undefined : toJsonSchema(tool.params.schema),
    defaultParams: defaultParamsOf(tool),
  };
}

function defaultParamsOf(tool: Tool): JsonObject | undefined {
  if (tool.params === undefined) return undefined;
  const defaults = tool.params.schema.safeParse({});
  if (!defaults.success || !isJsonObject(defaults.data)) {
    throw new TriviumError("internal", `the params of ${tool.id} have a key without a default`);
  }
  return defaults.data;
}
