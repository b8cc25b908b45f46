import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { CellAnswer, ObservationTarget } from "@trivium/code-mode-runtime";
import { TriviumError } from "@trivium/core";
import {
  type CancelWaitRequest,
  type CancelWaitResponse,
  CancelWaitResponseSchema,
  type TerminateRequest,
  type WaitRequest,
  type WaitResponse,
  type YieldObservationRequest,
  type YieldObservationResponse,
  YieldObservationResponseSchema,
} from "@trivium/proto/code-mode";
import { requireId } from "./identifiers.ts";
import { toNanoseconds, toNumber } from "./numbers.ts";
import { type CodeModeServiceDeps, requireSession } from "./service-deps.ts";
import { toWaitResponse } from "./wire-outcome.ts";

/** Response header: how long a completed result lay unobserved, in nanoseconds. */
const BUFFERED_FOR_HEADER = "codex-code-mode-result-buffered-for-ns";

/** Wait: the next observation of a cell. */
export async function wait(
  { runtime }: CodeModeServiceDeps,
  request: WaitRequest,
  { signal, responseHeader }: Pick<HandlerContext, "signal" | "responseHeader">,
): Promise<WaitResponse> {
  const session = requireSession(runtime, request.sessionId);
  const answer = await session.wait({
    cellId: requireId("cell_id", request.cellId),
    waitId: requireId("wait_id", request.waitId),
    yieldTimeMs: toNumber(request.yieldTimeMs),
    maxOutputTokens: toNumber(request.maxOutputTokens),
    signal,
  });
  return respond(answer, responseHeader);
}

/** Terminate: ends a cell by force, or takes its buffered result. */
export async function terminate(
  { runtime }: CodeModeServiceDeps,
  request: TerminateRequest,
  { responseHeader }: Pick<HandlerContext, "responseHeader">,
): Promise<WaitResponse> {
  const session = requireSession(runtime, request.sessionId);
  const cellId = requireId("cell_id", request.cellId);
  const answer = await session.terminate(cellId, { maxOutputTokens: toNumber(request.maxOutputTokens) });
  return respond(answer, responseHeader);
}

/** CancelWait: answers when the observer is retired, so that the next Wait finds none. */
export function cancelWait({ runtime }: CodeModeServiceDeps, request: CancelWaitRequest): CancelWaitResponse {
  const session = requireSession(runtime, request.sessionId);
  session.cancelWait(requireId("wait_id", request.waitId));
  return create(CancelWaitResponseSchema);
}

/** YieldObservation: ends one observation early; the cell goes on. */
export function yieldObservation(
  { runtime }: CodeModeServiceDeps,
  request: YieldObservationRequest,
): YieldObservationResponse {
  const session = requireSession(runtime, request.sessionId);
  session.yieldObservation(toTarget(request.observation));
  return create(YieldObservationResponseSchema);
}

function toTarget(observation: YieldObservationRequest["observation"]): ObservationTarget {
  switch (observation.case) {
    case "executionId":
      return { type: "execution", executionId: requireId("execution_id", observation.value) };
    case "waitId":
      return { type: "wait", waitId: requireId("wait_id", observation.value) };
    case undefined:
      throw new TriviumError("invalidInput", "observation is missing; set execution_id or wait_id");
  }
}

function respond(answer: CellAnswer, responseHeader: Headers): WaitResponse {
  const { bufferedForMs } = answer.outcome;
  if (bufferedForMs !== undefined) {
    responseHeader.set(BUFFERED_FOR_HEADER, toNanoseconds(bufferedForMs).toString());
  }
  return toWaitResponse(answer);
}
