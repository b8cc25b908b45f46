import { create } from "@bufbuild/protobuf";
import {
  type GetToolInfoRequest,
  type ListToolsRequest,
  type ListToolsResponse,
  ListToolsResponseSchema,
  ToolCategory,
  type ToolInfo,
} from "@trivium/proto/grok-tools";
import { type GrokToolsServiceDeps, type RequestHeaders, sessionOf } from "./request-metadata.ts";
import { toWireToolInfo } from "./to-wire.ts";

/** ListTools: the tools of the server, or those of the session once it is finalized. The counts ignore `include_disabled`. */
export function listTools(
  deps: GrokToolsServiceDeps,
  { category, includeDisabled, includeSchemas }: ListToolsRequest,
  context: RequestHeaders,
): ListToolsResponse {
  const isAny = category === undefined || category === ToolCategory.UNSPECIFIED;
  const cards = sessionOf(deps, context)
    .listTools()
    .filter((card) => isAny || card.category === category);
  const enabled = cards.filter(({ isEnabled }) => isEnabled);
  const version = deps.runtime.toolVersion;
  return create(ListToolsResponseSchema, {
    tools: (includeDisabled ? cards : enabled).map((card) =>
      toWireToolInfo(card, { withSchemas: includeSchemas, version }),
    ),
    totalCount: cards.length,
    enabledCount: enabled.length,
  });
}

/** GetToolInfo: one tool with its schemas. */
export function getToolInfo(
  deps: GrokToolsServiceDeps,
  { toolName }: GetToolInfoRequest,
  context: RequestHeaders,
): ToolInfo {
  const card = sessionOf(deps, context).toolInfo(toolName);
  return toWireToolInfo(card, { withSchemas: true, version: deps.runtime.toolVersion });
}
