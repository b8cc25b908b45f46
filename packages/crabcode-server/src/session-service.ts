import type { ConnectRouter } from "@connectrpc/connect";
import { silentLogger } from "@trivium/core";
import { SessionService } from "@trivium/proto/crabcode-sessions";
import { compactSession, interruptTurn, listMessages, listSessionTools } from "./session-content.ts";
import {
  archiveSession,
  closeSession,
  createSession,
  deleteSession,
  getSession,
  listSessions,
  renameSession,
  resumeSession,
  unarchiveSession,
} from "./sessions.ts";
import { EXTENSION_DOMAIN, type ExtensionServiceDeps, unary } from "./status.ts";

/** Adds trivium.crabcode.v1.SessionService to a router. Authentication is the endpoint's. One line per RPC. */
export function sessionService({
  runtime: { sessions },
  logger = silentLogger,
}: ExtensionServiceDeps): (router: ConnectRouter) => void {
  const domain = EXTENSION_DOMAIN;
  return (router) => {
    router.service(SessionService, {
      createSession: unary(logger, (request, context) => createSession(sessions, request, context), domain),
      getSession: unary(logger, (request, context) => getSession(sessions, request, context), domain),
      listSessions: unary(logger, (request) => listSessions(sessions, request), domain),
      resumeSession: unary(logger, (request, context) => resumeSession(sessions, request, context), domain),
      renameSession: unary(logger, (request, context) => renameSession(sessions, request, context), domain),
      archiveSession: unary(logger, (request, context) => archiveSession(sessions, request, context), domain),
      unarchiveSession: unary(
        logger,
        (request, context) => unarchiveSession(sessions, request, context),
        domain,
      ),
      closeSession: unary(logger, (request, context) => closeSession(sessions, request, context), domain),
      deleteSession: unary(logger, (request, context) => deleteSession(sessions, request, context), domain),
      listMessages: unary(logger, (request, context) => listMessages(sessions, request, context), domain),
      interruptTurn: unary(logger, (request, context) => interruptTurn(sessions, request, context), domain),
      compactSession: unary(logger, (request, context) => compactSession(sessions, request, context), domain),
      listSessionTools: unary(
        logger,
        (request, context) => listSessionTools(sessions, request, context),
        domain,
      ),
    });
  };
}
