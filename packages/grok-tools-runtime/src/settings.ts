// Forms of settings, apart from what they configure: reading a configuration must not load the tools.
export { type LspServerConfig, lspServerConfig } from "./lsp/config/lsp-server-config.ts";
