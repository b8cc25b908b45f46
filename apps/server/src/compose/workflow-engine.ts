import type {
  CellOutcome,
  CodeModeRuntime,
  CodeModeSession,
  ToolCall,
  ToolDefinition,
} from "@trivium/code-mode-runtime";
import { TriviumError } from "@trivium/core";
import type { WorkflowEngine } from "@trivium/grok-tools-runtime";

type Program = Parameters<WorkflowEngine["run"]>[0];
type End = Awaited<ReturnType<WorkflowEngine["run"]>>;
type Host = Pick<Program, "agent" | "parallel">;
type Json = Awaited<ReturnType<Program["agent"]>>;

/** Longer than any run; one that takes still longer is looked at again. */
const OBSERVATION_MS = 24 * 60 * 60 * 1000;

/**
 * Runs the programs of workflows as cells of code mode, each in a session of its own whose two tools are answered in
 * this process. The runtime is not disposed with it.
 */
export function createWorkflowEngine(runtime: CodeModeRuntime): WorkflowEngine {
  return { run: (program) => runProgram(runtime, program) };
}

async function runProgram(runtime: CodeModeRuntime, program: Program): Promise<End> {
  const { signal } = program;
  signal.throwIfAborted();
  const session = runtime.openSession({ outputMode: "bounded", heartbeatIntervalMs: 0 });
  const onAbort = (): void => void session.close();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    // Both end with the session. The lease has to be read, or its events pile up.
    const served = Promise.allSettled([discard(session.events), serveCalls(session, program)]);
    const end = await toEnd(session, toSource(program));
    await session.close();
    await served;
    return end;
  } catch (thrown) {
    signal.throwIfAborted();
    throw thrown;
  } finally {
    signal.removeEventListener("abort", onAbort);
    await session.close();
  }
}

/** What the program sees, on its own first line, so that lines in messages are right. A tool rejects with a text. */
function toSource({ source, args }: Program): string {
  const asError = "(message) => { throw new Error(message); }";
  return [
    `const agent = (prompt, options) => tools.agent({ prompt, options }).catch(${asError})`,
    `parallel = (items) => tools.parallel({ items }).catch(${asError})`,
    `args = JSON.parse(${JSON.stringify(JSON.stringify(args))}); ${source}`,
  ].join(", ");
}

async function toEnd(session: CodeModeSession, source: string): Promise<End> {
  const texts: string[] = [];
  const tools = ["agent", "parallel"].map(toTool);
  const execution = session.execute({
    executionId: "workflow",
    callId: "workflow",
    source,
    tools,
    yieldTimeMs: OBSERVATION_MS,
  });
  let outcome: CellOutcome | undefined = await execution.outcome;
  for (let look = 1; ; look += 1) {
    if (outcome === undefined) {
      throw new TriviumError("unavailable", "code mode has ended before the workflow");
    }
    const { items, result, cellId } = outcome;
    if (result.type === "terminated") return { output: "", errorText: "the program was ended from outside" };
    // In a bounded session a failure is told in the output, too.
    if (result.type === "completed" && result.errorText !== undefined) {
      return { output: texts.join("\n"), errorText: result.errorText };
    }
    texts.push(...items.map((item) => (item.type === "text" ? item.text : `[${item.type}]`)));
    if (result.type === "completed") return { output: texts.join("\n"), errorText: undefined };
    const answer = await session.wait({ cellId, waitId: `look-${look}`, yieldTimeMs: OBSERVATION_MS });
    outcome = answer.outcome;
  }
}

function toTool(name: string): ToolDefinition {
  return {
    name,
    toolName: name,
    namespace: undefined,
    description: "",
    kind: "function",
    inputSchemaJson: undefined,
    outputSchemaJson: undefined,
  };
}

async function serveCalls(session: CodeModeSession, host: Host): Promise<void> {
  for await (const event of session.subscribe({ tools: [], heartbeatIntervalMs: 0 })) {
    if (event.type === "tool-called") void answerCall(session, host, event.call);
  }
}

/** Never rejects. */
async function answerCall(session: CodeModeSession, host: Host, call: ToolCall): Promise<void> {
  const result = await callHost(host, call).then(
    (value) => ({ type: "succeeded" as const, outputJson: JSON.stringify(value, wellFormed) }),
    (thrown: unknown) => ({
      type: "failed" as const,
      message: thrown instanceof Error ? thrown.message : String(thrown),
    }),
  );
  try {
    session.completeToolCall(call.invocationId, result);
  } catch {
    // The session has ended meanwhile; nobody waits for the result.
  }
}

async function callHost(host: Host, { tool, inputJson = "{}" }: ToolCall): Promise<Json> {
  const input: { readonly [key: string]: Json } = JSON.parse(inputJson);
  const { prompt = null, options = null, items = null } = input;
  return tool.name === "agent" ? await host.agent({ prompt, options }) : await host.parallel({ items });
}

/** A cell takes no halves of surrogate pairs. */
function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}

async function discard(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _event of events);
}
