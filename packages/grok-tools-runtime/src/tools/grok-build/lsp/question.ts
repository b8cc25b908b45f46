import type { LspFeature } from "../../../lsp/server/server-capabilities.ts";
import type { ToolContext } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";
import type { LspInput, LspOperation } from "./lsp-input.ts";
import type { LspParams } from "./lsp-params.ts";

/** How an operation is put to a server, and what it needs to be told. */
interface OperationFacts {
  readonly feature: LspFeature;
  readonly method: string;
  readonly needs: "position" | "file" | "query";
}

export const operationFacts: Readonly<Record<LspOperation, OperationFacts>> = {
  goToDefinition: {
    feature: "definitionProvider",
    method: "textDocument/definition",
    needs: "position",
  },
  goToImplementation: {
    feature: "implementationProvider",
    method: "textDocument/implementation",
    needs: "position",
  },
  findReferences: {
    feature: "referencesProvider",
    method: "textDocument/references",
    needs: "position",
  },
  hover: { feature: "hoverProvider", method: "textDocument/hover", needs: "position" },
  documentSymbol: {
    feature: "documentSymbolProvider",
    method: "textDocument/documentSymbol",
    needs: "file",
  },
  workspaceSymbol: { feature: "workspaceSymbolProvider", method: "workspace/symbol", needs: "query" },
};

/** A complete question; the position counts from 0. */
export type Question =
  | { readonly about: "project"; readonly query: string }
  | { readonly about: "file"; readonly filePath: string; readonly position: Position | undefined };

interface Position {
  readonly line: number;
  readonly character: number;
}

/**
 * The question of a call.
 *
 * @throws {@link ToolError} MISSING_REQUIRED_FIELD for what the operation needs, INVALID_INPUT for a place before the
 * first.
 */
export function questionOf(
  input: LspInput,
  { params, parameterName }: Pick<ToolContext<LspParams>, "params" | "parameterName">,
): Question {
  const { needs } = operationFacts[input.operation];
  const required = <Value>(name: keyof LspInput, value: Value | undefined): Value => {
    if (value !== undefined && value !== "") return value;
    const field = parameterName(name);
    throw ToolError.missingField(field, `${input.operation} needs \`${field}\``);
  };
  if (needs === "query") return { about: "project", query: required("query", input.query) };
  const filePath = required("file_path", input.file_path);
  if (needs === "file") return { about: "file", filePath, position: undefined };
  const place = (name: "line" | "character"): number => {
    const given = required(name, input[name]);
    if (given >= params.positions) return given - params.positions;
    const field = parameterName(name);
    throw ToolError.invalidField(field, `\`${field}\` is ${given}; the first is ${params.positions}`);
  };
  return { about: "file", filePath, position: { line: place("line"), character: place("character") } };
}
