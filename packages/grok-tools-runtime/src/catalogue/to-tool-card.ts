import { descriptionSource } from "../finalize/description-source.ts";
import { stripTemplate } from "../finalize/template/render-template.ts";
import { createToolsetView } from "../finalize/toolset-view.ts";
import type { JsonObject } from "../json.ts";
import { shorten } from "../shorten.ts";
import type { ToolCard, ToolCardCapabilities } from "../tool-card.ts";
import { labelOfKind } from "../tool-kind.ts";
import { shownParams } from "../tool-params.ts";
import type { RegisteredTool } from "../tool-registry.ts";
import type { BackendFacts } from "./backend-facts.ts";

/** The parts of a card that differ between the catalogue and a finalized session. */
export interface CardVariation {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly currentParams: JsonObject | undefined;
  readonly contractVersion: string;
  readonly isEnabled: boolean;
}

/** The card of a tool in a session. */
export function toToolCard(
  registered: RegisteredTool,
  facts: BackendFacts,
  variation: CardVariation,
): ToolCard {
  const { tool, namespace, outputSchema, paramsSchema, defaultParams } = registered;
  const { currentParams } = variation;
  return {
    ...variation,
    currentParams: currentParams && shownParams(tool.params, currentParams),
    id: tool.id,
    namespace,
    kind: tool.kind,
    displayName: labelOfKind(tool.kind),
    shortDescription: firstSentence(variation.description),
    category: tool.category,
    outputSchema,
    paramsSchema,
    defaultParams,
    capabilities: capabilitiesOf(registered, facts),
    outputFields: tool.output.fields,
  };
}

/** The card of a tool before finalize: canonical names, no template applied. */
export function toCatalogueCard(
  registered: RegisteredTool,
  facts: BackendFacts,
  open: { isEnabled: boolean; currentParams: JsonObject | undefined },
): ToolCard {
  const { tool, canonicalName, inputSchema } = registered;
  const params = tool.params?.schema.parse(open.currentParams ?? {});
  const source = descriptionSource(tool, {
    params,
    toolset: createToolsetView([]),
    remindersEnabled: false,
  });
  return toToolCard(registered, facts, {
    name: canonicalName,
    description: stripTemplate(source),
    inputSchema: tool.specialiseInput(inputSchema, params),
    currentParams: open.currentParams,
    contractVersion: "",
    isEnabled: open.isEnabled && missingDependency(registered, facts) === undefined,
  });
}

/** Name of the backend that a tool lacks; undefined when it can work. */
export function missingDependency(
  { tool }: RegisteredTool,
  { settings, ...session }: BackendFacts,
): string | undefined {
  const { dependency } = tool;
  return dependency === undefined || dependency.isConfigured(settings, session) ? undefined : dependency.name;
}

function capabilitiesOf(registered: RegisteredTool, facts: BackendFacts): ToolCardCapabilities {
  const { capabilities, kind } = registered.tool;
  const missing = missingDependency(registered, facts);
  return {
    supportsBackground:
      capabilities.alwaysBackground === true || capabilities.backgroundParameter !== undefined,
    supportsStreaming: capabilities.streaming === true,
    hasSideEffects: !capabilities.readOnly,
    supportsCancellation: capabilities.cancellable === true,
    supportsTimeout: capabilities.supportsTimeout ?? capabilities.timeoutParameter !== undefined,
    isReadOnly: capabilities.readOnly,
    custom: [
      `kind:${kind}`,
      `scope:${capabilities.scope ?? (capabilities.readOnly ? "read" : "write")}`,
      ...(missing === undefined ? [] : [`requires:${missing}`]),
      ...(capabilities.custom?.(facts.settings) ?? []),
    ],
  };
}

const MAX_SHORT_LENGTH = 120;

function firstSentence(description: string): string {
  const text = description.trim().replace(/\s+/g, " ");
  const end = /[.!?](?=\s|$)/.exec(text);
  const sentence = end === null ? text : text.slice(0, end.index + 1);
  return shorten(sentence, MAX_SHORT_LENGTH);
}
