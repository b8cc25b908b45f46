import { TriviumError } from "@trivium/core";
import { factsBeforeFinalize, factsOfSession } from "./catalogue/backend-facts.ts";
import { toCatalogueCard } from "./catalogue/to-tool-card.ts";
import type { OpenDefaults } from "./controls/open-defaults.ts";
import { type ConfiguredTool, cardOfConfigured } from "./finalize/configured-tool.ts";
import { currentParams, type FinalizedToolset } from "./finalized-toolset.ts";
import type { RuntimePorts } from "./runtime-ports.ts";
import { shorten } from "./shorten.ts";
import type { ToolCard } from "./tool-card.ts";
import { aliasTarget, type RegisteredTool } from "./tool-registry.ts";

/** Where cards come from: the toolset once there is one, before that the registry with the settings made so far. */
export interface CardSource {
  readonly ports: RuntimePorts;
  readonly toolset: FinalizedToolset | undefined;
  readonly open: OpenDefaults;
}

/** The cards of a finalized toolset, or of the whole registry before. */
export function listCards(source: CardSource): ToolCard[] {
  const { ports, toolset } = source;
  if (toolset === undefined) return ports.registry.tools.map((tool) => catalogueCard(source, tool));
  return toolset.tools.map((tool) => configuredCard(toolset, tool));
}

/** One card by name. @throws {@link TriviumError} `notFound`, `invalidInput` for an ambiguous canonical name. */
export function findCard(source: CardSource, name: string): ToolCard {
  const { ports, toolset } = source;
  if (toolset === undefined) return catalogueCard(source, findRegistered(ports, name));
  return configuredCard(toolset, findConfigured(toolset, name));
}

/** A configured tool by its client name or id. @throws {@link TriviumError} `notFound`. */
export function findConfigured({ byName, tools }: FinalizedToolset, name: string): ConfiguredTool {
  const target = aliasTarget(name);
  const found = byName.get(name) ?? tools.find(({ registered }) => registered.tool.id === target);
  if (found !== undefined) return found;
  throw new TriviumError(
    "notFound",
    `no tool named ${shorten(name)}; there are: ${shorten([...byName.keys()].join(", "), 1000)}`,
  );
}

/**
 * A tool of the registry by its id, or by a canonical name that only one tool has.
 *
 * @throws {@link TriviumError} `notFound`, `invalidInput` for an ambiguous canonical name.
 */
export function findRegistered({ registry }: RuntimePorts, name: string): RegisteredTool {
  const byId = registry.find(name);
  if (byId !== undefined) return byId;
  const byName = registry.tools.filter(({ canonicalName }) => canonicalName === name);
  const [first] = byName;
  if (first === undefined) throw new TriviumError("notFound", `no tool named ${shorten(name)}`);
  if (byName.length === 1) return first;
  const ids = byName.map(({ tool }) => tool.id).sort();
  throw new TriviumError("invalidInput", `${name} is ambiguous, use an id: ${ids.join(", ")}`);
}

function catalogueCard({ ports, open }: CardSource, registered: RegisteredTool): ToolCard {
  const { tool, defaultParams } = registered;
  return toCatalogueCard(registered, factsBeforeFinalize(ports), {
    isEnabled: !open.disabled.has(tool.id),
    currentParams: defaultParams && { ...defaultParams, ...open.params.get(tool.id) },
  });
}

function configuredCard(toolset: FinalizedToolset, tool: ConfiguredTool): ToolCard {
  return cardOfConfigured(tool, factsOfSession(toolset.scope), {
    isEnabled: !toolset.disabled.has(tool.clientName),
    currentParams: currentParams(toolset, tool),
  });
}
