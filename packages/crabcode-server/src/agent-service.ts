import { create } from "@bufbuild/protobuf";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { silentLogger } from "@trivium/core";
import type { CrabcodeRuntime } from "@trivium/crabcode-runtime";
import {
  AgentService,
  type SendAgentInputRequest,
  type SendAgentInputResponse,
  SendAgentInputResponseSchema,
} from "@trivium/proto/crabcode-agents";
import { metadataKeys } from "./metadata.ts";
import { EXTENSION_DOMAIN, type ExtensionServiceDeps, unary } from "./status.ts";

/** Adds trivium.crabcode.v1.AgentService to a router. Authentication is the endpoint's. */
export function agentService({
  runtime,
  logger = silentLogger,
}: ExtensionServiceDeps): (router: ConnectRouter) => void {
  return (router) => {
    router.service(AgentService, {
      sendAgentInput: unary(
        logger,
        (request, context) => sendAgentInput(runtime, request, context),
        EXTENSION_DOMAIN,
      ),
    });
  };
}

/** SendAgentInput: answers when the agent is queued. */
async function sendAgentInput(
  runtime: Pick<CrabcodeRuntime, "sendAgentInput">,
  { sessionId, agentId, prompt, interrupt }: SendAgentInputRequest,
  { requestHeader, responseHeader }: Pick<HandlerContext, "requestHeader" | "responseHeader">,
): Promise<SendAgentInputResponse> {
  const idempotencyKey = requestHeader.get(metadataKeys.idempotencyKey);
  const accepted = await runtime.sendAgentInput({
    sessionId,
    agentId,
    prompt,
    interrupt,
    ...(idempotencyKey !== null && { idempotencyKey }),
  });
  responseHeader.set(metadataKeys.sessionId, accepted.sessionId);
  if (accepted.isReplay) responseHeader.set(metadataKeys.isReplay, "1");
  return create(SendAgentInputResponseSchema, { callbackEpoch: accepted.callbackEpoch });
}
