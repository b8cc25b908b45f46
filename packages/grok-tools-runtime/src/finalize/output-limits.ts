import type { ToolLimits } from "../tool.ts";
import type { RegisteredTool } from "../tool-registry.ts";
import type { TruncationConfig } from "./tool-config.ts";

const DEFAULT_MAX_LINES_READ = 1000;

/**
 * The limits of one tool: its own entry in the truncation config (by id, canonical, client or older name), the
 * config's default, the tool's params, the built-in cap, in this order.
 */
export function outputLimits(
  registered: RegisteredTool,
  clientName: string,
  { params, truncation = {} }: { params: unknown; truncation: TruncationConfig | undefined },
): ToolLimits {
  const { tool, canonicalName } = registered;
  const { builtInMaxOutput, legacyKeys = [] } = tool.truncation;
  const perTool = truncation.perToolMaxOutputBytes ?? {};
  const key = [tool.id, canonicalName, clientName, ...legacyKeys].find((name) =>
    Object.hasOwn(perTool, name),
  );
  const configured = key === undefined ? truncation.defaultMaxOutputBytes : perTool[key];
  return {
    maxOutput: configured ?? tool.truncation.fromParams?.(params) ?? builtInMaxOutput,
    maxOutputConfigured: configured !== undefined,
    maxLinesRead: truncation.maxLinesRead ?? DEFAULT_MAX_LINES_READ,
  };
}

/** Names in the per-tool map that mean no tool of the set. */
export function unknownTruncationKeys(
  tools: readonly { readonly registered: RegisteredTool; readonly clientName: string }[],
  truncation: TruncationConfig | undefined,
): string[] {
  const known = new Set(
    tools.flatMap(({ registered: { tool, canonicalName }, clientName }) => [
      tool.id,
      canonicalName,
      clientName,
      ...(tool.truncation.legacyKeys ?? []),
    ]),
  );
  return Object.keys(truncation?.perToolMaxOutputBytes ?? {}).filter((key) => !known.has(key));
}
