import { CodeModeHost, type ExecutionOutcome, ToolKind } from "@trivium/proto/code-mode";
import type { Call, GrpcConnection } from "./grpc-connection.ts";

const { openSession, execute, subscribeToToolCalls, completeToolCall, terminate } = CodeModeHost.method;

/** The tool of every program that calls one. */
const echo = { name: "echo", toolName: { name: "echo" }, description: "", kind: ToolKind.FUNCTION };
const FOREVER_MS = 60_000n;

/** What one Execute came to. */
export interface Execution {
  readonly cellId: string;
  readonly outcome: ExecutionOutcome;
}

/** One session of a host. */
export class BenchSession {
  readonly #connection: GrpcConnection;
  readonly #id: string;
  readonly #lease: Call;
  #executions = 0;

  private constructor(connection: GrpcConnection, id: string, lease: Call) {
    this.#connection = connection;
    this.#id = id;
    this.#lease = lease;
  }

  static async open(connection: GrpcConnection): Promise<BenchSession> {
    const opened = Promise.withResolvers<string>();
    const lease = connection.call(openSession, {}, ({ event }) => {
      if (event.case === "opened") opened.resolve(event.value.sessionId);
    });
    lease.ended.catch(opened.reject);
    return new BenchSession(connection, await opened.promise, lease);
  }

  /** Runs a program to its end, or until it has run for `yieldTimeMs`. */
  async run(source: string, yieldTimeMs: bigint = FOREVER_MS): Promise<Execution> {
    const executionId = `e${++this.#executions}`;
    const request = { sessionId: this.#id, executionId, toolCallId: "t", source, yieldTimeMs };
    let cellId = "";
    let outcome: ExecutionOutcome | undefined;
    const call = this.#connection.call(execute, { ...request, enabledTools: [echo] }, ({ event }) => {
      if (event.case === "started") ({ cellId } = event.value);
      else if (event.case === "outcome") outcome = event.value;
    });
    await call.ended;
    if (outcome === undefined) throw new Error("the execution has no outcome");
    if (outcome.outcome.case === "completed" && outcome.outcome.value.errorText !== undefined) {
      throw new Error(outcome.outcome.value.errorText);
    }
    return { cellId, outcome };
  }

  async terminate(cellId: string): Promise<void> {
    await this.#connection.call(terminate, { sessionId: this.#id, cellId }, () => {}).ended;
  }

  /** Answers every tool call at once with this JSON. */
  answerCalls(outputJson: Uint8Array): void {
    const sessionId = this.#id;
    const answer = { case: "succeeded", value: { outputJson } } as const;
    const subscription = this.#connection.call(subscribeToToolCalls, { sessionId }, ({ invocationId }) => {
      const request = { sessionId, invocationId, outcome: answer };
      this.#connection.call(completeToolCall, request, () => {}).ended.catch(fail);
    });
    subscription.ended.catch(fail);
  }

  close(): void {
    this.#lease.cancel();
  }
}

function fail(error: unknown): void {
  console.error(error);
  process.exitCode = 1;
}
