import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { CrabcodeRuntime, SessionReference } from "@trivium/crabcode-runtime";
import {
  type Empty,
  EmptySchema,
  type ListModelsResponse,
  ListModelsResponseSchema,
  type SwitchModelRequest,
  type SwitchModeRequest,
} from "@trivium/proto/crabcode";
import { metadataKeys } from "./metadata.ts";

type ResponseContext = Pick<HandlerContext, "responseHeader">;

/** ListModels: the profiles a session can use; the active one is a response header. */
export async function listModels(
  runtime: Pick<CrabcodeRuntime, "listModels">,
  { sessionId }: Empty,
  { responseHeader }: ResponseContext,
): Promise<ListModelsResponse> {
  const listing = await runtime.listModels(sessionId);
  responseHeader.set(metadataKeys.sessionId, listing.sessionId);
  // Profile names are free text, header values are not.
  responseHeader.set(metadataKeys.currentModel, encodeURI(listing.currentModel));
  return create(ListModelsResponseSchema, { models: [...listing.models] });
}

/** SwitchModel: takes effect with the next turn. */
export async function switchModel(
  runtime: Pick<CrabcodeRuntime, "switchModel">,
  { sessionId, name }: SwitchModelRequest,
  { responseHeader }: ResponseContext,
): Promise<Empty> {
  return acknowledged(await runtime.switchModel(sessionId, name), responseHeader);
}

/** SwitchMode: `agent` or `plan`. */
export async function switchMode(
  runtime: Pick<CrabcodeRuntime, "switchMode">,
  { sessionId, mode }: SwitchModeRequest,
  { responseHeader }: ResponseContext,
): Promise<Empty> {
  return acknowledged(await runtime.switchMode(sessionId, mode), responseHeader);
}

function acknowledged({ sessionId }: SessionReference, responseHeader: Headers): Empty {
  responseHeader.set(metadataKeys.sessionId, sessionId);
  return create(EmptySchema);
}
