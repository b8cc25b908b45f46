import type { ConnectRouter } from "@connectrpc/connect";
import { type Clock, type Logger, silentLogger, systemClock } from "@trivium/core";
import type { CrabcodeRuntime } from "@trivium/crabcode-runtime";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { cancelAgent, getAgent, listAgents, spawnAgent, waitAgent } from "./agents.ts";
import { healthCheck } from "./health-check.ts";
import { listModels, switchMode, switchModel } from "./models.ts";
import { respondChoice, respondPermission } from "./questions.ts";
import { sendMessage } from "./send-message.ts";
import { streamed, unary } from "./status.ts";
import { subscribeEvents } from "./subscribe-events.ts";

/** What the service is made of. The runtime stays its owner's: the service never closes it. */
export interface CrabcodeServiceDeps {
  readonly runtime: CrabcodeRuntime;
  /** Release that HealthCheck reports. */
  readonly version: string;
  /** Gets what clients are not told: the cause of a bare `internal` status. Default: nothing is logged. */
  readonly logger?: Logger;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/**
 * For the endpoint: a slow reader never ends these streams. The runtime falls back to its event log for them, and says
 * READER_STALLED where it must.
 */
export const crabcodeMethodLimits: Readonly<Record<string, { readonly writeStallMs: number }>> = {
  [`${CrabCodeService.typeName}/SendMessage`]: { writeStallMs: Number.POSITIVE_INFINITY },
  [`${CrabCodeService.typeName}/SubscribeEvents`]: { writeStallMs: Number.POSITIVE_INFINITY },
};

/** Adds crabcode.CrabCodeService to a router. Authentication is the endpoint's. One line per RPC. */
export function crabcodeService({
  runtime,
  version,
  logger = silentLogger,
  clock = systemClock,
}: CrabcodeServiceDeps): (router: ConnectRouter) => void {
  return (router) => {
    router.service(CrabCodeService, {
      sendMessage: streamed(logger, (request, context) => sendMessage({ runtime, clock }, request, context)),
      subscribeEvents: streamed(logger, (request, context) => subscribeEvents(runtime, request, context)),
      respondPermission: unary(logger, (request, context) => respondPermission(runtime, request, context)),
      respondChoice: unary(logger, (request, context) => respondChoice(runtime, request, context)),
      listModels: unary(logger, (request, context) => listModels(runtime, request, context)),
      switchModel: unary(logger, (request, context) => switchModel(runtime, request, context)),
      switchMode: unary(logger, (request, context) => switchMode(runtime, request, context)),
      healthCheck: unary(logger, () => healthCheck(runtime, version)),
      spawnAgent: unary(logger, (request, context) => spawnAgent(runtime, request, context)),
      getAgent: unary(logger, (request, context) => getAgent(runtime, request, context)),
      listAgents: unary(logger, (request, context) => listAgents(runtime, request, context)),
      cancelAgent: unary(logger, (request, context) => cancelAgent(runtime, request, context)),
      waitAgent: unary(logger, (request, context) => waitAgent(runtime, request, context)),
    });
  };
}
