import { type LspServerConfig, lspServerConfig } from "@trivium/grok-tools-runtime/settings";
import { z } from "zod";

/** The servers of `tools.lsp.servers` by name. */
export const lspServersSchema: z.ZodType<Record<string, LspServerConfig>> = z.record(
  z.string().min(1),
  lspServerConfig,
);
