import { z } from "zod";
import { absentable, lenientInteger } from "../../../input/lenient.ts";
import { isJsonObject, type JsonObject } from "../../../json.ts";
import type { LspParams } from "./lsp-params.ts";

/** What can be asked. */
export const lspOperations = [
  "goToDefinition",
  "findReferences",
  "hover",
  "goToImplementation",
  "documentSymbol",
  "workspaceSymbol",
] as const;

export type LspOperation = (typeof lspOperations)[number];

export interface LspInput {
  readonly operation: LspOperation;
  readonly file_path: string | undefined;
  readonly line: number | undefined;
  readonly character: number | undefined;
  readonly query: string | undefined;
}

const MAX_POSITION = 2 ** 31 - 1;

const position = absentable(lenientInteger({ min: 0, max: MAX_POSITION }));

export const lspInput: z.ZodType<LspInput> = z.object({
  operation: z.enum(lspOperations).describe("What to ask."),
  file_path: absentable(z.string()).describe(
    "The file, absolute or relative. Needed for all operations but workspaceSymbol.",
  ),
  line: position.describe("Line of the symbol."),
  character: position.describe("Place of the symbol in its line."),
  query: absentable(z.string()).describe("Name or part of it, for workspaceSymbol."),
});

/** Says in the schema where lines and characters begin. */
export function specialiseLspInput(schema: JsonObject, { positions }: LspParams): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties)) return schema;
  const described = Object.entries(properties).map(([name, property]) => {
    const isPosition = (name === "line" || name === "character") && isJsonObject(property);
    if (!isPosition) return [name, property] as const;
    const unit = name === "line" ? "lines" : "characters (UTF-16 units)";
    const { description } = property;
    const text = `${typeof description === "string" ? description : ""} The first of the ${unit} is ${positions}; answers count from 1.`;
    return [name, { ...property, minimum: positions, description: text }] as const;
  });
  return { ...schema, properties: Object.fromEntries(described) };
}
