import type { ConnectRouter } from "@connectrpc/connect";
import { defaultCodeModeLimits } from "@trivium/code-mode-runtime";
import { TriviumError } from "@trivium/core";
import { CodeModeHost } from "@trivium/proto/code-mode";
import { execute } from "./execute.ts";
import { acknowledgeNotification } from "./notifications.ts";
import { closeSession, openSession } from "./open-session.ts";
import { DEFAULT_MAX_REQUESTS, RequestGate } from "./request-gate.ts";
import type { CodeModeServiceDeps } from "./service-deps.ts";
import { completeToolCall, subscribeToToolCalls } from "./tool-calls.ts";
import { cancelWait, terminate, wait, yieldObservation } from "./waits.ts";

/**
 * What an endpoint must grant this service: messages of 64 MiB either way, `OUT_OF_RANGE` beyond. By service name,
 * as endpoints take it.
 */
export const codeModeMethodLimits: Readonly<
  Record<
    string,
    { readMaxBytes?: number; writeMaxBytes?: number; writeStallMs?: number; excess?: "outOfRange" }
  >
> = {
  [CodeModeHost.typeName]: {
    readMaxBytes: defaultCodeModeLimits.maxMessageBytes,
    writeMaxBytes: defaultCodeModeLimits.maxMessageBytes,
    excess: "outOfRange",
  },
  // Their readers may pause for as long as they like: past 128 MiB of unread events the session ends, and past as much
  // of unread tool calls further ones are rejected.
  [`${CodeModeHost.typeName}/OpenSession`]: { writeStallMs: Number.POSITIVE_INFINITY },
  [`${CodeModeHost.typeName}/SubscribeToToolCalls`]: { writeStallMs: Number.POSITIVE_INFINITY },
};

/** Adds codex.code_mode.v1.CodeModeHost to a router. One line per RPC. */
export function codeModeService(deps: CodeModeServiceDeps): (router: ConnectRouter) => void {
  const gate = new RequestGate(deps.maxRequests ?? DEFAULT_MAX_REQUESTS);
  return (router) => {
    router.service(CodeModeHost, {
      openSession: (request, context) => openSession(deps, request, context),
      closeSession: (request) => gate.run(() => closeSession(deps, request)),
      subscribeToToolCalls: (request, context) => subscribeToToolCalls(deps, request, context),
      completeToolCall: (request) => gate.run(() => completeToolCall(deps, request)),
      acknowledgeNotification: (request) => gate.run(() => acknowledgeNotification(deps, request)),
      execute: (request, context) => execute(deps, request, context),
      wait: (request, context) => gate.run(() => wait(deps, request, context)),
      yieldObservation: (request) => gate.run(() => yieldObservation(deps, request)),
      cancelWait: (request) => gate.run(() => cancelWait(deps, request)),
      terminate: (request, context) => gate.run(() => terminate(deps, request, context)),
      getProcessMetrics: () => {
        throw new TriviumError("unimplemented", "GetProcessMetrics has no defined answer");
      },
    });
  };
}
