import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ToolDefinitionSchema, ToolKind } from "@trivium/proto/code-mode";

/** A tool as a program sees it. */
export interface ToolDefinition {
  /** 1 to 256 bytes. In the cell it is a property of `tools`, with other characters than letters, digits, `_`, `$` replaced. */
  readonly name: string;
  /** What a call is named by. Default: `name`. */
  readonly toolName?: string;
  /** Absent, empty and `functions` are the same. */
  readonly namespace?: string;
  readonly description?: string;
  /** `function`, the default, takes any JSON value; `freeform` a text. */
  readonly kind?: "function" | "freeform";
  /** JSON Schema of the argument. */
  readonly inputSchema?: unknown;
  /** JSON Schema of the result. */
  readonly outputSchema?: unknown;
}

const encoder = new TextEncoder();

/** The definition as a message. */
export function toWireDefinition(definition: ToolDefinition): MessageInitShape<typeof ToolDefinitionSchema> {
  const { name, toolName = name, namespace, description = "", kind, inputSchema, outputSchema } = definition;
  return {
    name,
    toolName: { name: toolName, ...(namespace !== undefined && { namespace }) },
    description,
    kind: kind === "freeform" ? ToolKind.FREEFORM : ToolKind.FUNCTION,
    ...(inputSchema !== undefined && { inputSchemaJson: encoder.encode(JSON.stringify(inputSchema)) }),
    ...(outputSchema !== undefined && { outputSchemaJson: encoder.encode(JSON.stringify(outputSchema)) }),
  };
}

/** One text for all spellings of a tool's name. */
export function canonicalToolName(name: string, namespace: string | undefined): string {
  return JSON.stringify([namespace === undefined || namespace === "functions" ? "" : namespace, name]);
}

/** What a call must match: the canonical name and the kind. */
export function toolKey(definition: ToolDefinition): string {
  const { name, toolName = name, namespace, kind = "function" } = definition;
  return `${kind} ${canonicalToolName(toolName, namespace)}`;
}
