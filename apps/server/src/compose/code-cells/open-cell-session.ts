import {
  type CellOutcome,
  type CodeModeRuntime,
  type CodeModeSession,
  LOST_TEXT,
  type SessionEvent,
  type ToolDefinition,
} from "@trivium/code-mode-runtime";
import { TriviumError } from "@trivium/core";
import type { CellEvents, CellLook, CellObservation, CodeCellsPort } from "@trivium/crabcode-runtime";
import { CellCallServer } from "./cell-call-server.ts";

type CellSession = ReturnType<CodeCellsPort["openSession"]>;
type Program = Parameters<CellSession["start"]>[0];

/** Looks are ended by whoever looks; one that takes still longer hands over what there is. */
const LOOK_MS = 24 * 60 * 60 * 1000;
/** The most a session may ask for: its owner counts the calls of each program. */
const MAX_PENDING_CALLS = 4096;

/** Opens a session whose calls and notifications go to `events`. */
export function openCellSession(
  runtime: CodeModeRuntime,
  events: CellEvents,
  heapBytes: number,
): CellSession {
  const session = runtime.openSession({
    outputMode: "bounded",
    heartbeatIntervalMs: 0,
    maxHeapSizeBytes: heapBytes,
    maxPendingCalls: MAX_PENDING_CALLS,
  });
  const calls = new CellCallServer(session, events);
  const onEvent = (event: SessionEvent): void => {
    if (event.type === "notified") events.notified(event.cellId, event.text);
    else if (event.type === "tool-call-cancelled") calls.cancel(event.invocationId);
  };
  session.events.listen(onEvent, () => calls.cancelAll());
  session.subscribe({ tools: [], heartbeatIntervalMs: 0 }).listen(
    (event) => {
      if (event.type === "tool-called") calls.serve(event.call);
    },
    () => calls.cancelAll(),
  );
  let lastNumber = 0;
  return {
    start({ code: source, tools, maxOutputTokens }) {
      lastNumber += 1;
      const executionId = `program-${lastNumber}`;
      const execution = session.execute({
        executionId,
        callId: executionId,
        source,
        tools: tools.map(toDefinition),
        yieldTimeMs: LOOK_MS,
        maxOutputTokens,
      });
      return {
        cellId: execution.cellId,
        observation: execution.outcome.then(observed),
        end: () => session.yieldObservation({ type: "execution", executionId }),
      };
    },
    look(cellId, { maxOutputTokens }) {
      lastNumber += 1;
      const waitId = `look-${lastNumber}`;
      return lookAt(session, { cellId, waitId, maxOutputTokens });
    },
    async terminate(cellId, { maxOutputTokens }) {
      return observed((await session.terminate(cellId, { maxOutputTokens })).outcome);
    },
    [Symbol.asyncDispose]: () => session.close(),
  };
}

function lookAt(
  session: CodeModeSession,
  { cellId, waitId, maxOutputTokens }: { cellId: string; waitId: string; maxOutputTokens: number },
): CellLook {
  const waiting = session.wait({ cellId, waitId, yieldTimeMs: LOOK_MS, maxOutputTokens });
  return {
    cellId,
    observation: waiting.then(({ outcome }) => observed(outcome)),
    end: () => session.yieldObservation({ type: "wait", waitId }),
  };
}

function toDefinition({
  name,
  description,
  inputSchema,
  outputSchema,
}: Program["tools"][number]): ToolDefinition {
  return {
    name,
    toolName: name,
    namespace: undefined,
    description,
    kind: "function",
    inputSchemaJson: JSON.stringify(inputSchema),
    outputSchemaJson: JSON.stringify(outputSchema),
  };
}

function observed(outcome: CellOutcome | undefined): CellObservation {
  if (outcome === undefined) throw new TriviumError("unavailable", "the session of the program has ended");
  const { items, hostDurationMs: durationMs } = outcome;
  return { state: stateOf(outcome), items, durationMs };
}

function stateOf({ result }: CellOutcome): CellObservation["state"] {
  if (result.type === "yielded") return "running";
  if (result.type === "terminated") return "terminated";
  if (result.errorText === undefined) return "completed";
  return result.errorText === LOST_TEXT ? "lost" : "failed";
}
