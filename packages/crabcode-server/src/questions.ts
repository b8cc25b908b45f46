import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { CrabcodeError, type CrabcodeRuntime } from "@trivium/crabcode-runtime";
import {
  type ChoiceResponseMsg,
  type Empty,
  EmptySchema,
  type PermissionResponseMsg,
} from "@trivium/proto/crabcode";
import { decodedHeader, metadataKeys } from "./metadata.ts";

/** Longest text that goes to the model with a refusal. */
const MAX_FEEDBACK_CHARACTERS = 4_000;

/** RespondPermission: answers a pending `permission_request`. */
export async function respondPermission(
  runtime: Pick<CrabcodeRuntime, "respondPermission">,
  request: PermissionResponseMsg,
  { requestHeader, responseHeader }: Pick<HandlerContext, "requestHeader" | "responseHeader">,
): Promise<Empty> {
  const { sessionId, toolUseId, agentId, allowed, alwaysAllow } = request;
  const feedback = decodedHeader(requestHeader, metadataKeys.feedback);
  if (feedback !== undefined && feedback.length > MAX_FEEDBACK_CHARACTERS) {
    const message = `the feedback has ${feedback.length} characters, at most ${MAX_FEEDBACK_CHARACTERS} are taken`;
    throw new CrabcodeError("FIELD_INVALID", message, { field: metadataKeys.feedback });
  }
  const resolved = await runtime.respondPermission({
    sessionId,
    toolUseId,
    ...(agentId !== undefined && { agentId }),
    isAllowed: allowed,
    alwaysAllow,
    ...(feedback !== undefined && { feedback }),
  });
  responseHeader.set(metadataKeys.sessionId, resolved.sessionId);
  return create(EmptySchema);
}

/** RespondChoice: answers a pending `choice_request`. */
export async function respondChoice(
  runtime: Pick<CrabcodeRuntime, "respondChoice">,
  request: ChoiceResponseMsg,
  { responseHeader }: Pick<HandlerContext, "responseHeader">,
): Promise<Empty> {
  const { sessionId, toolUseId, agentId, selected, cancelled } = request;
  const resolved = await runtime.respondChoice({
    sessionId,
    toolUseId,
    ...(agentId !== undefined && { agentId }),
    selected,
    isCancelled: cancelled,
  });
  responseHeader.set(metadataKeys.sessionId, resolved.sessionId);
  return create(EmptySchema);
}
