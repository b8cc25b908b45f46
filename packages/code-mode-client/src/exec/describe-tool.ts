import { renderJsonSchemaToTypescript } from "../schema/render-json-schema.ts";
import { isJsonObject } from "../schema/schema-reference.ts";
import { toPropertyName } from "../tools/property-name.ts";
import type { ToolDefinition } from "../tools/tool-definition.ts";

/** The description of a tool, followed by how a program calls it: a TypeScript declaration. */
export function describeTool(tool: ToolDefinition): string {
  const description = (tool.description ?? "").trim();
  const declaration = ["exec tool declaration:", fence(declare(tool))].join("\n");
  return description === "" ? declaration : `${description}\n\n${declaration}`;
}

/** A block of TypeScript in Markdown. */
export function fence(code: string): string {
  return `\`\`\`ts\n${code}\n\`\`\``;
}

/** True for a tool whose result has the shape of MCP's `CallToolResult`. */
export function hasMcpResult({ outputSchema }: ToolDefinition): boolean {
  if (!isJsonObject(outputSchema)) return false;
  const { properties } = outputSchema;
  if (!isJsonObject(properties)) return false;
  const { content, isError, _meta: meta } = properties;
  return (
    isJsonObject(content) &&
    isOfType(content, "array") &&
    isOfType(content["items"], "object") &&
    isOfType(isError, "boolean") &&
    isOfType(meta, "object")
  );
}

function declare(tool: ToolDefinition): string {
  const isFreeform = tool.kind === "freeform";
  const input = isFreeform ? "string" : renderJsonSchemaToTypescript(tool.inputSchema);
  const parameter = `${isFreeform ? "input" : "args"}: ${input}`;
  return `declare const tools: { ${toPropertyName(tool.name)}(${parameter}): Promise<${outputType(tool)}>; };`;
}

function outputType(tool: ToolDefinition): string {
  const { outputSchema } = tool;
  if (!hasMcpResult(tool)) return renderJsonSchemaToTypescript(outputSchema);
  const properties = isJsonObject(outputSchema) ? outputSchema["properties"] : undefined;
  const structured = isJsonObject(properties) ? properties["structuredContent"] : undefined;
  const type = renderJsonSchemaToTypescript(structured);
  return type === "unknown" ? "CallToolResult" : `CallToolResult<${type}>`;
}

function isOfType(schema: unknown, type: string): boolean {
  return isJsonObject(schema) && schema["type"] === type;
}
