import { z } from "zod";
import { lspDependency } from "../../../lsp/lsp-dependency.ts";
import { sessionLsp } from "../../../lsp/session-lsp.ts";
import { defineTool, type Tool } from "../../../tool.ts";
import { lspInput, specialiseLspInput } from "./lsp-input.ts";
import { lspParams } from "./lsp-params.ts";
import { runLsp } from "./run-lsp.ts";

/** GrokBuild:lsp: what language servers know of the code. */
export const lsp: Tool = defineTool({
  id: "GrokBuild:lsp",
  kind: "lsp",
  capabilities: { readOnly: true, cancellable: true, supportsTimeout: true },
  description: `Asks a language server about code: where a symbol is defined, implemented or used, what it is, and which symbols there are.

- goToDefinition, goToImplementation, findReferences and hover need \`\${{ params.lsp.file_path }}\`, \`\${{ params.lsp.line }}\` and \`\${{ params.lsp.character }}\` of the symbol.
- documentSymbol needs \`\${{ params.lsp.file_path }}\`; workspaceSymbol needs \`\${{ params.lsp.query }}\` and asks all servers.
- Lines and characters in answers count from 1.`,
  input: lspInput,
  params: lspParams,
  output: {
    schema: z.object({ type: z.literal("Text"), text: z.string() }),
    fields: [{ name: "text", description: "The answer.", type: "string", potentiallyLarge: true }],
  },
  resources: [sessionLsp],
  dependency: lspDependency,
  specialiseInput: specialiseLspInput,
  run: runLsp,
});
