import type { ToolDependency } from "../tool.ts";
import { readLspConfig } from "./config/read-lsp-config.ts";

/** Language servers are there when one is configured, whichever files it is for. */
export const lspDependency: ToolDependency = {
  name: "lsp_server",
  setting: "tools.lsp",
  isConfigured: (settings, { directory, homeDirectory }) =>
    readLspConfig({ settings, directory, homeDirectory }).servers.size > 0,
  suggestion:
    "Configure a language server in tools.lsp.servers, in ~/.grok/lsp.json, or in .grok/lsp.json of a folder in tools.lsp.trustedFolders.",
};
