import { TriviumError } from "@trivium/core";
import { toCatalogueCard } from "./catalogue/to-tool-card.ts";
import { type ConfiguredTool, cardOfConfigured } from "./finalize/configured-tool.ts";
import { currentParams, type FinalizedToolset } from "./finalized-toolset.ts";
import type { RuntimePorts } from "./runtime-ports.ts";
import type { ToolCard } from "./tool-card.ts";
import { aliasTarget, type RegisteredTool } from "./tool-registry.ts";

/** The cards of a finalized toolset, or of the whole registry before. */
export function listCards(ports: RuntimePorts, toolset: FinalizedToolset | undefined): ToolCard[] {
  if (toolset === undefined) return ports.registry.tools.map((tool) => catalogueCard(ports, tool));
  return toolset.tools.map((tool) => configuredCard(toolset, tool));
}

/** One card by name. @throws {@link TriviumError} `notFound`, `invalidInput` for an ambiguous canonical name. */
export function findCard(ports: RuntimePorts, toolset: FinalizedToolset | undefined, name: string): ToolCard {
  if (toolset === undefined) return catalogueCard(ports, findRegistered(ports, name));
  const target = aliasTarget(name);
  const found =
    toolset.byName.get(name) ?? toolset.tools.find(({ registered }) => registered.tool.id === target);
  if (found !== undefined) return configuredCard(toolset, found);
  throw new TriviumError("notFound", `no tool named ${name}; there are: ${[...toolset.byName.keys()].join(", ")}`);
}

function findRegistered({ registry }: RuntimePorts, name: string): RegisteredTool {
  const byId = registry.find(name);
  if (byId !== undefined) return byId;
  const byName = registry.tools.filter(({ canonicalName }) => canonicalName === name);
  const [first] = byName;
  if (first === undefined) throw new TriviumError("notFound", `no tool named ${name}`);
  if (byName.length === 1) return first;
  const ids = byName.map(({ tool }) => tool.id).sort();
  throw new TriviumError("invalidInput", `${name} is ambiguous, use an id: ${ids.join(", ")}`);
}

function catalogueCard({ settings }: RuntimePorts, registered: RegisteredTool): ToolCard {
  return toCatalogueCard(registered, settings, { isEnabled: true, currentParams: registered.defaultParams });
}

function configuredCard(toolset: FinalizedToolset, tool: ConfiguredTool): ToolCard {
  return cardOfConfigured(tool, toolset.scope.settings, {
    isEnabled: !toolset.disabled.has(tool.clientName),
    currentParams: currentParams(toolset, tool),
  });
}
