import type { BackendFacts } from "../catalogue/backend-facts.ts";
import { missingDependency, toToolCard } from "../catalogue/to-tool-card.ts";
import type { JsonObject } from "../json.ts";
import type { ToolLimits } from "../tool.ts";
import type { ToolCard } from "../tool-card.ts";
import type { RegisteredTool } from "../tool-registry.ts";
import { toProposedTools } from "./check-toolset.ts";
import { renderDescription, renderSchema, type TextRendering } from "./describe-tool.ts";
import { descriptionSource } from "./description-source.ts";
import { outputLimits } from "./output-limits.ts";
import type { PlaceholderValues } from "./placeholders.ts";
import { type HostFacts, templateScope } from "./template-scope.ts";
import type { ResolvedEntry, TruncationConfig } from "./tool-config.ts";
import { createToolsetView } from "./toolset-view.ts";

/** A tool of a finalized session. What is here is fixed; what may change later is in the session. */
export interface ConfiguredTool {
  readonly clientName: string;
  readonly registered: RegisteredTool;
  readonly parameterNames: Readonly<Record<string, string>>;
  readonly behaviorVersion: string | undefined;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Params at finalize. */
  readonly params: JsonObject;
  readonly explicitParams: JsonObject;
}

/** What building the tools of a session needs besides the entries. */
export interface ToolBuildContext extends BackendFacts {
  readonly truncation: TruncationConfig | undefined;
  readonly remindersEnabled: boolean;
  readonly host: HostFacts;
  /** Longest time a waiting tool blocks, for `{max_wait_ms}`. */
  readonly maxWaitMs: number;
}

/** Builds names, texts and schemas of all entries. `warnings` are tokens for the response. */
export function configureTools(
  entries: readonly ResolvedEntry[],
  context: ToolBuildContext,
): { tools: ConfiguredTool[]; warnings: string[] } {
  const warnings: string[] = [];
  const proposed = toProposedTools(entries);
  const toolset = createToolsetView(proposed);
  const scope = templateScope(entries, context);
  const tools = entries.map((resolved, index): ConfiguredTool => {
    const { registered, entry, clientName, effectiveParams } = resolved;
    const params = proposed[index]?.params;
    const { remindersEnabled, truncation } = context;
    let hasFailed = false;
    const rendering: TextRendering = {
      scope,
      placeholders: placeholdersOf(
        outputLimits(registered, clientName, { params, truncation }),
        context.maxWaitMs,
      ),
      onFailure: () => {
        hasFailed = true;
      },
    };
    const source =
      entry.descriptionOverride ?? descriptionSource(registered.tool, { params, toolset, remindersEnabled });
    const parameterNames = entry.paramsNameOverrides ?? {};
    const schema = registered.tool.specialiseInput(registered.inputSchema, params);
    const configured = {
      clientName,
      registered,
      parameterNames,
      behaviorVersion: resolved.behaviorVersion,
      description: renderDescription(source, rendering),
      inputSchema: renderSchema(schema, parameterNames, rendering),
      params: effectiveParams,
      explicitParams: resolved.explicitParams,
    };
    if (hasFailed) warnings.push(`template_render_failed:${registered.tool.id}`);
    const missing = missingDependency(registered, context);
    if (missing !== undefined) warnings.push(`unavailable:${registered.tool.id}:${missing}`);
    return configured;
  });
  return { tools, warnings };
}

/** The card of a configured tool as it stands now. */
export function cardOfConfigured(
  { registered, clientName, description, inputSchema, behaviorVersion }: ConfiguredTool,
  facts: BackendFacts,
  now: { isEnabled: boolean; currentParams: JsonObject | undefined },
): ToolCard {
  return toToolCard(registered, facts, {
    name: clientName,
    description,
    inputSchema,
    currentParams: registered.tool.params === undefined ? undefined : now.currentParams,
    contractVersion: behaviorVersion ?? "",
    isEnabled: now.isEnabled,
  });
}

function placeholdersOf(limits: ToolLimits, maxWaitMs: number): PlaceholderValues {
  return { maxLinesRead: limits.maxLinesRead, maxOutputBytes: limits.maxOutput, maxWaitMs };
}
