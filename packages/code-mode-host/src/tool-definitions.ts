import type { ToolDefinition, ToolReference } from "@trivium/code-mode-runtime";
import { TriviumError } from "@trivium/core";
import { ToolKind, type ToolName, type ToolDefinition as WireToolDefinition } from "@trivium/proto/code-mode";
import { requireId, requireShort } from "./identifiers.ts";
import { requireJsonText } from "./json-text.ts";

/**
 * The tools of an Execute.
 *
 * @throws {@link TriviumError} `invalidInput` for the first definition that is wrong.
 */
export function toToolDefinitions(definitions: readonly WireToolDefinition[]): ToolDefinition[] {
  return definitions.map((definition, index) => {
    const field = `enabled_tools[${index}]`;
    const name = requireId(`${field}.name`, definition.name);
    if (definition.toolName === undefined) {
      throw new TriviumError("invalidInput", `${field}.tool_name is missing`);
    }
    const tool = toToolReference(`${field}.tool_name`, definition.toolName);
    return {
      name,
      toolName: tool.name,
      namespace: tool.namespace,
      description: definition.description,
      kind: toKind(`${field}.kind`, definition.kind),
      inputSchemaJson: toSchema(`${field}.input_schema_json`, definition.inputSchemaJson),
      outputSchemaJson: toSchema(`${field}.output_schema_json`, definition.outputSchemaJson),
    };
  });
}

/** @throws {@link TriviumError} `invalidInput` for a name that is empty or too long. */
export function toToolReference(field: string, { name, namespace }: ToolName): ToolReference {
  return {
    name: requireId(`${field}.name`, name),
    namespace: namespace === undefined ? undefined : requireShort(`${field}.namespace`, namespace),
  };
}

function toKind(field: string, kind: ToolKind): ToolDefinition["kind"] {
  if (kind === ToolKind.FUNCTION) return "function";
  if (kind === ToolKind.FREEFORM) return "freeform";
  throw new TriviumError(
    "invalidInput",
    `${field} ${kind} is unknown; there are function (1) and freeform (2)`,
  );
}

function toSchema(field: string, schema: Uint8Array | undefined): string | undefined {
  return schema === undefined ? undefined : requireJsonText(field, schema);
}
