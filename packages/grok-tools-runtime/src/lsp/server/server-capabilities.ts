import { z } from "zod";

/** What a server can be asked, by the key it announces it with. */
export type LspFeature =
  | "definitionProvider"
  | "implementationProvider"
  | "referencesProvider"
  | "hoverProvider"
  | "documentSymbolProvider"
  | "workspaceSymbolProvider";

/** How a server wants to hear of documents. */
export interface DocumentSyncWish {
  readonly openClose: boolean;
  readonly change: "none" | "full" | "incremental";
  /** Undefined: it does not want to hear of saves. */
  readonly save: { readonly includeText: boolean } | undefined;
}

/** What a server can do. */
export interface ServerCapabilities {
  readonly sync: DocumentSyncWish;
  /** Present when diagnostics are asked for; others are only sent. */
  readonly pullDiagnostics: { readonly identifier: string | undefined } | undefined;
  offers(feature: LspFeature): boolean;
}

const changeKinds = ["none", "full", "incremental"] as const;
const changeKind = z
  .int()
  .optional()
  .transform((kind) => changeKinds[kind ?? 0] ?? "none");

const sync = z.union([
  z.int().transform(
    (kind): DocumentSyncWish => ({
      openClose: kind !== 0,
      change: changeKinds[kind] ?? "none",
      save: undefined,
    }),
  ),
  z
    .object({
      openClose: z.boolean().optional(),
      change: changeKind,
      save: z.union([z.boolean(), z.object({ includeText: z.boolean().optional() })]).optional(),
    })
    .transform(({ openClose = false, change, save = false }): DocumentSyncWish => {
      const includeText = typeof save === "object" && save.includeText === true;
      return { openClose, change, save: save === false ? undefined : { includeText } };
    }),
]);

const answer = z.object({
  capabilities: z.looseObject({
    textDocumentSync: sync.nullish(),
    diagnosticProvider: z.object({ identifier: z.string().optional() }).nullish(),
  }),
});

const noSync: DocumentSyncWish = { openClose: false, change: "none", save: undefined };

/** Reads the answer to `initialize`; undefined when it is not one. */
export function readCapabilities(result: unknown): ServerCapabilities | undefined {
  const parsed = answer.safeParse(result);
  if (!parsed.success) return undefined;
  const { capabilities } = parsed.data;
  const { textDocumentSync, diagnosticProvider } = capabilities;
  return {
    sync: textDocumentSync ?? noSync,
    pullDiagnostics: diagnosticProvider == null ? undefined : { identifier: diagnosticProvider.identifier },
    offers(feature) {
      const provider = capabilities[feature];
      return provider !== undefined && provider !== null && provider !== false;
    },
  };
}
