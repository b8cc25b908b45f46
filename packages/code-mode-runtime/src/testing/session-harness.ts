import { silentLogger } from "@trivium/core";
import { ManualClock, sequentialIds } from "@trivium/core/testing";
import type { CellOutcome } from "../cell/outcome.ts";
import { type CodeModeRuntime, createCodeModeRuntime } from "../code-mode-runtime.ts";
import type { CellOutput } from "../engine/cell-engine.ts";
import type { CodeModeLimits } from "../limits.ts";
import type { CodeModeSession } from "../session.ts";
import type {
  ExecuteOptions,
  Execution,
  SessionEvent,
  SessionOptions,
  ToolDefinition,
} from "../session-types.ts";
import type { SubscriptionEvent, ToolCall } from "../tool-calls/tool-call.ts";
import type { ToolReference } from "../tool-calls/tool-name.ts";
import { type ScriptedCell, ScriptedEngine } from "./scripted-engine.ts";

/** One session over a scripted engine. */
export interface SessionHarness {
  readonly clock: ManualClock;
  readonly engine: ScriptedEngine;
  readonly runtime: CodeModeRuntime;
  readonly session: CodeModeSession;
  /** Events of the lease so far. */
  readonly events: SessionEvent[];
  /** Starts a program that is ready to run. */
  readonly start: (options?: Partial<ExecuteOptions>) => { execution: Execution; cell: ScriptedCell };
  /** Starts a program and lets its first observation yield at once. */
  readonly startUnobserved: (
    options?: Partial<ExecuteOptions>,
  ) => Promise<{ execution: Execution; cell: ScriptedCell }>;
}

export function createSessionHarness(
  options: Partial<SessionOptions> & { limits?: Partial<CodeModeLimits>; keepOversizedOutput?: boolean } = {},
): SessionHarness {
  const { limits, keepOversizedOutput = false, ...sessionOptions } = options;
  const clock = new ManualClock();
  const engine = new ScriptedEngine();
  const runtime = createCodeModeRuntime({
    engine,
    clock,
    ids: sequentialIds(),
    logger: silentLogger,
    keepOversizedOutput,
    ...(limits !== undefined && { limits }),
  });
  const session = runtime.openSession({ outputMode: "unbounded", heartbeatIntervalMs: 0, ...sessionOptions });
  const events: SessionEvent[] = [];
  // A lease that ends with an error is the business of the test that makes it so.
  collect(session.events, events).catch(() => {});
  let executions = 0;
  const start = (executeOptions: Partial<ExecuteOptions> = {}) => {
    const executionId = `e${++executions}`;
    const execution = session.execute({
      executionId,
      callId: "call",
      source: "",
      tools: [],
      ...executeOptions,
    });
    engine.last.listener.ready();
    return { execution, cell: engine.last };
  };
  return {
    clock,
    engine,
    runtime,
    session,
    events,
    start,
    async startUnobserved(executeOptions = {}) {
      const started = start({ yieldTimeMs: 0, ...executeOptions });
      await started.execution.outcome;
      return started;
    },
  };
}

/** Reads a stream into `into`; resolves when it ends. */
export async function collect<Item>(stream: AsyncIterable<Item>, into: Item[]): Promise<void> {
  for await (const item of stream) into.push(item);
}

/** Subscribes and collects the calls. */
export function subscribe(session: CodeModeSession, tools: readonly ToolReference[] = []): ToolCall[] {
  const calls: ToolCall[] = [];
  const events: AsyncIterable<SubscriptionEvent> = session.subscribe({ tools, heartbeatIntervalMs: 0 });
  void (async () => {
    for await (const event of events) if (event.type === "tool-called") calls.push(event.call);
  })();
  return calls;
}

/** A function tool. */
export function tool(name: string, namespace?: string): ToolDefinition {
  return {
    name,
    toolName: name,
    namespace,
    description: "",
    kind: "function",
    inputSchemaJson: undefined,
    outputSchemaJson: undefined,
  };
}

/** The texts of an outcome. */
export function texts(outcome: CellOutcome | undefined): string[] {
  return (outcome?.items ?? []).map((item: CellOutput) => (item.type === "text" ? item.text : item.url));
}

/** Lets everything run that only waits for promises. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
