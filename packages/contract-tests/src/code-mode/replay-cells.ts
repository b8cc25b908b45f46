import type { WaitResponse } from "@trivium/proto/code-mode";
import {
  type CallEnd,
  failed,
  type HostClient,
  type ObservedCall,
  type ObservedExecution,
  ObservedSession,
  succeeded,
  toEnd,
} from "./observed-session.ts";
import { pause } from "./pause.ts";
import {
  jsonBytes,
  recordAnswer,
  recordCall,
  recordExecution,
  textBytes,
  toExecuteRequest,
  toOpenRequest,
} from "./records.ts";
import type { CellAction, CellStep, Expectation, ToolReply, Vector } from "./vector.ts";

/** What was seen of one cell, in the shape of the recording. */
interface CellRecord {
  execute?: ReturnType<typeof recordExecution>;
  actions?: unknown[];
  tool_calls?: unknown[];
  notifications?: unknown[];
  tool_calls_cancelled?: unknown[];
  closed?: unknown;
}

interface RunningCell {
  readonly step: CellStep;
  readonly executionId: string;
  readonly execution: ObservedExecution;
  readonly record: CellRecord;
}

/** Runs the cells of a vector in one session, one after the other. */
export async function replayCells(client: HostClient, vector: Vector): Promise<Expectation> {
  const session = await ObservedSession.open(client, toOpenRequest(vector.session, vector.limits));
  if (!(session instanceof ObservedSession)) throw new Error(`the session was refused: ${session.message}`);
  try {
    return await runCells(session, vector);
  } finally {
    session.lease.drop();
  }
}

async function runCells(session: ObservedSession, vector: Vector): Promise<Expectation> {
  const steps = vector.cells ?? [];
  const refusals: unknown[] = [];
  if (vector.subscribe !== false) {
    const replies = new Replies(steps);
    session.subscribe({ toolNames: [...(vector.tool_filters ?? [])] }, (call) => {
      void answer(session, call, replies.next(call)).then((end) => {
        if (end !== undefined && end.status !== 0) {
          refusals.push({ tool: call.toolName?.name, status: end.status, message: end.message });
        }
      });
    });
    await pause(5);
  }
  const cells: RunningCell[] = [];
  const inBackground: Promise<void>[] = [];
  for (const [index, step] of steps.entries()) {
    const executionId = `e${index}`;
    const execution = session.execute(toExecuteRequest(step, executionId));
    const cell: RunningCell = { step, executionId, execution, record: {} };
    cells.push(cell);
    const finish = async (): Promise<void> => {
      await execution.done;
      cell.record.execute = recordExecution(execution);
    };
    if (step.background === true) {
      inBackground.push(finish());
      await session.until(() => execution.cellId !== undefined || execution.end !== undefined, 5000);
    } else await finish();
    for (const action of step.actions ?? []) {
      cell.record.actions ??= [];
      cell.record.actions.push(await act(session, cell, action));
    }
  }
  await Promise.all(inBackground);
  for (const cell of cells) await untilClosed(session, cell);
  await pause(5);
  for (const cell of cells) addEvents(session, cell);
  const { end } = session.lease;
  return {
    cells: cells.map(({ record }) => record),
    ...(refusals.length > 0 && { complete_statuses: refusals }),
    ...(end !== undefined && { session_ended: { status: end.status, message: end.message } }),
  };
}

async function act(session: ObservedSession, cell: RunningCell, action: CellAction): Promise<unknown> {
  const { sessionId, client } = session;
  const cellId = action.cell ?? cell.execution.cellId ?? "?";
  const { max_output_tokens: tokens } = action;
  const budget = tokens === undefined ? {} : { maxOutputTokens: BigInt(tokens) };
  switch (action.op) {
    case "sleep":
      await pause(action.ms ?? 0);
      return null;
    case "await_outcome":
      await cell.execution.done;
      return recordExecution(cell.execution);
    case "wait": {
      const waitId = action.wait_id ?? crypto.randomUUID();
      const yieldTimeMs = BigInt(action.yield_time_ms ?? 5000);
      return answerOf(client.wait({ sessionId, cellId, waitId, yieldTimeMs, ...budget }));
    }
    case "terminate":
      return answerOf(client.terminate({ sessionId, cellId, ...budget }));
    case "yield_observation": {
      const { wait_id: waitId, execution_id: executionId = cell.executionId } = action;
      const observation =
        waitId === undefined
          ? ({ case: "executionId", value: executionId } as const)
          : ({ case: "waitId", value: waitId } as const);
      await client.yieldObservation({ sessionId, observation });
      return { status: 0, message: "" };
    }
  }
}

async function answerOf(call: Promise<WaitResponse>): Promise<unknown> {
  return recordAnswer(await call.catch(toEnd));
}

/** Cells whose last observation was final are closed soon after. */
async function untilClosed(
  session: ObservedSession,
  { executionId, execution, record }: RunningCell,
): Promise<void> {
  const seen = [record.execute, ...(record.actions ?? [])].filter(
    (one): one is { kind: string } => typeof one === "object" && one !== null && "kind" in one,
  );
  const last = seen.at(-1);
  if (execution.cellId === undefined || last === undefined || last.kind === "yielded") return;
  await session.until(
    () =>
      session.events.some((event) => event.case === "cellClosed" && event.value.executionId === executionId),
    3000,
  );
}

function addEvents(session: ObservedSession, { executionId, record }: RunningCell): void {
  const calls = session.calls.filter((call) => call.executionId === executionId);
  const notifications: unknown[] = [];
  const cancelled: string[] = [];
  record.closed = null;
  for (const event of session.events) {
    if (event.case === "notification" && event.value.executionId === executionId) {
      notifications.push({ call_id: event.value.callId, text: event.value.text });
    } else if (event.case === "toolCallCancelled") {
      const { invocationId } = event.value;
      const call = calls.find((one) => one.invocationId === invocationId);
      if (call !== undefined) cancelled.push(call.runtimeToolCallId);
    } else if (event.case === "cellClosed" && event.value.executionId === executionId) {
      record.closed = { final_tool_call_sequence: Number(event.value.finalToolCallSequence) };
    }
  }
  if (calls.length > 0) record.tool_calls = calls.map(recordCall);
  if (notifications.length > 0) record.notifications = notifications;
  if (cancelled.length > 0) record.tool_calls_cancelled = cancelled.sort();
}

/** The replies of the vector: those of a tool are used one after the other, the last for good. */
class Replies {
  readonly #steps: readonly CellStep[];
  readonly #counts = new Map<string, number>();

  constructor(steps: readonly CellStep[]) {
    this.#steps = steps;
  }

  next(call: ObservedCall): ToolReply {
    const name = call.toolName?.name ?? "";
    const count = this.#counts.get(name) ?? 0;
    this.#counts.set(name, count + 1);
    const step = this.#steps[Number(call.executionId.slice(1))];
    const replies = step?.tool_replies?.[name] ?? [];
    const list = Array.isArray(replies) ? (replies as readonly ToolReply[]) : [replies as ToolReply];
    return list[Math.min(count, list.length - 1)] ?? { fail: "the vector has no reply" };
  }
}

async function answer(
  session: ObservedSession,
  call: ObservedCall,
  reply: ToolReply,
): Promise<CallEnd | undefined> {
  if (reply.never === true) return undefined;
  if (reply.delay_ms !== undefined) await pause(reply.delay_ms);
  return session.complete(call.invocationId, toOutcome(call, reply));
}

function toOutcome(call: ObservedCall, reply: ToolReply) {
  if (reply.echo === true) return succeeded(call.inputJson ?? textBytes("null"));
  if (reply.raw !== undefined) return succeeded(textBytes(reply.raw));
  if ("json" in reply) return succeeded(jsonBytes(reply.json));
  return failed(reply.fail ?? "");
}
