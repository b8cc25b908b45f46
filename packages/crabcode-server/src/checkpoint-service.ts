import type { ConnectRouter } from "@connectrpc/connect";
import { silentLogger } from "@trivium/core";
import { CheckpointService } from "@trivium/proto/crabcode-checkpoints";
import { createCheckpoint, listCheckpoints, revertToCheckpoint } from "./checkpoints.ts";
import { EXTENSION_DOMAIN, type ExtensionServiceDeps, unary } from "./status.ts";

/** Adds trivium.crabcode.v1.CheckpointService to a router. Authentication is the endpoint's. One line per RPC. */
export function checkpointService({
  runtime: { checkpoints },
  logger = silentLogger,
}: ExtensionServiceDeps): (router: ConnectRouter) => void {
  const domain = EXTENSION_DOMAIN;
  return (router) => {
    router.service(CheckpointService, {
      createCheckpoint: unary(
        logger,
        (request, context) => createCheckpoint(checkpoints, request, context),
        domain,
      ),
      listCheckpoints: unary(
        logger,
        (request, context) => listCheckpoints(checkpoints, request, context),
        domain,
      ),
      revertToCheckpoint: unary(
        logger,
        (request, context) => revertToCheckpoint(checkpoints, request, context),
        domain,
      ),
    });
  };
}
