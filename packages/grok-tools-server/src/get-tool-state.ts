import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type GetToolStateRequest,
  type GetToolStateResponse,
  GetToolStateResponseSchema,
} from "@trivium/proto/grok-tools";
import { type GrokToolsServiceDeps, sessionOf } from "./request-metadata.ts";

/** GetToolState: a snapshot taken while no call runs. */
export async function getToolState(
  deps: GrokToolsServiceDeps,
  _request: GetToolStateRequest,
  context: Pick<HandlerContext, "signal" | "requestHeader">,
): Promise<GetToolStateResponse> {
  const state = await sessionOf(deps, context).state(context.signal);
  return create(GetToolStateResponseSchema, { stateJson: JSON.stringify(state) });
}
