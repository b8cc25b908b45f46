import { basename, resolve } from "node:path";
import type { LspServerConfig } from "../config/lsp-server-config.ts";
import { toFileUri } from "../documents/file-uri.ts";

/** A folder as the protocol names it. */
export interface WorkspaceFolder {
  readonly uri: string;
  readonly name: string;
}

/** The folder of the project a server works on. */
export function workspaceFolderOf(config: LspServerConfig, sessionDirectory: string): WorkspaceFolder {
  const path = resolve(sessionDirectory, config.workspaceFolder ?? ".");
  return { uri: toFileUri(path), name: basename(path) };
}

/** Parameters of `initialize`: what this client can do. */
export function initializeParams(config: LspServerConfig, folder: WorkspaceFolder): object {
  return {
    // Whoever started the program ends it; a server that watches a process of another namespace would end itself.
    processId: null,
    clientInfo: { name: "trivium" },
    rootUri: folder.uri,
    workspaceFolders: [folder],
    initializationOptions: config.initializationOptions,
    capabilities: {
      general: { positionEncodings: ["utf-16"] },
      window: { workDoneProgress: true },
      workspace: {
        applyEdit: false,
        configuration: true,
        workspaceFolders: true,
        symbol: {},
        didChangeConfiguration: {},
        diagnostics: { refreshSupport: true },
      },
      textDocument: {
        synchronization: { didSave: true },
        definition: { linkSupport: true },
        implementation: { linkSupport: true },
        references: {},
        hover: { contentFormat: ["markdown", "plaintext"] },
        documentSymbol: { hierarchicalDocumentSymbolSupport: true },
        publishDiagnostics: { versionSupport: true },
        diagnostic: {},
      },
    },
  };
}
