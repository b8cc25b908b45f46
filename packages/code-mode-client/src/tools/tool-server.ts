import { TriviumError } from "@trivium/core";
import { type ToolCall, ToolKind } from "@trivium/proto/code-mode";
import { RecentIds } from "../recent-ids.ts";
import type { SessionLink } from "../session-link.ts";
import type { Executions } from "./executions.ts";
import { type Completion, failure, success } from "./tool-completion.ts";
import { canonicalToolName, type ToolDefinition } from "./tool-definition.ts";

/** What a handler learns about a call beside its argument. */
export interface ToolCallContext {
  /** Aborts when nobody waits for the result any more: the cell has ended, or the session. */
  readonly signal: AbortSignal;
  readonly executionId: string;
  readonly cellId: string;
  /** UUID of this call. */
  readonly invocationId: string;
}

/**
 * Answers a tool call. `input` is the parsed argument, undefined when there is none; whoever reads it checks it.
 * The result is sent as JSON (undefined as null). What it throws rejects the program's promise with the message.
 */
export type ToolHandler = (input: unknown, context: ToolCallContext) => unknown;

/** A handler with what programs see of its tool. */
export interface ServedTool extends Omit<ToolDefinition, "name"> {
  readonly run: ToolHandler;
}

/** A call of a tool for which there is no handler of its own. */
export interface DelegatedToolCall {
  readonly name: string;
  /** Absent, empty and `functions` are the same. */
  readonly namespace: string | undefined;
  readonly kind: "function" | "freeform";
  /** The parsed argument, undefined when there is none. */
  readonly input: unknown;
  /** `tool-1`, `tool-2`, … in the order in which the program made its calls. */
  readonly runtimeToolCallId: string;
}

/** Answers calls as a {@link ToolHandler} does, for tools that have none. */
export type ToolDelegate = (call: DelegatedToolCall, context: ToolCallContext) => unknown;

const MAX_FILTERS = 64;
const DEFAULT_PENDING_CALLS = 1024;
/** The tool that a model runs programs with: not one for programs. */
const EXEC = canonicalToolName("exec", undefined);
/** A host need not answer a subscription before its first call; by then it has surely begun. */
const SUBSCRIBE_GRACE_MS = 250;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Runs the handlers of a session for the calls of its cells. */
export class ToolServer {
  readonly #link: SessionLink;
  readonly #executions: Executions;
  readonly #heartbeatIntervalS: number;
  readonly #heard: (isHeartbeat: boolean) => void;
  readonly #served = new Map<string, { definition: ToolDefinition; run: ToolHandler }>();
  readonly #active = new Map<
    string,
    { readonly executionId: string; readonly controller: AbortController }
  >();
  readonly #delegate: ToolDelegate | undefined;
  readonly #maxPendingCalls: number;
  /** Names that a subscription of this client takes. */
  readonly #subscribed = new Set<string>();
  readonly #seen = new RecentIds();
  readonly #cancelledEarly = new RecentIds();

  constructor(options: {
    readonly link: SessionLink;
    readonly executions: Executions;
    readonly heartbeatIntervalS: number;
    readonly heard: (isHeartbeat: boolean) => void;
    readonly delegate: ToolDelegate | undefined;
    readonly maxPendingCalls: number | undefined;
  }) {
    this.#link = options.link;
    this.#executions = options.executions;
    this.#heartbeatIntervalS = options.heartbeatIntervalS;
    this.#heard = options.heard;
    this.#delegate = options.delegate;
    this.#maxPendingCalls = options.maxPendingCalls ?? DEFAULT_PENDING_CALLS;
  }

  /** What is served, in the order in which it was added. */
  get definitions(): ToolDefinition[] {
    return [...this.#served.values()].map(({ definition }) => definition);
  }

  /** @throws {@link TriviumError} `alreadyExists` for a tool that is served already; nothing is added then. */
  async serve(tools: Readonly<Record<string, ToolHandler | ServedTool>>): Promise<void> {
    const added = new Map<string, { definition: ToolDefinition; run: ToolHandler }>();
    for (const [name, tool] of Object.entries(tools)) {
      const { run, ...rest } = typeof tool === "function" ? { run: tool } : tool;
      const definition: ToolDefinition = { ...rest, name };
      const key = canonicalToolName(definition.toolName ?? name, definition.namespace);
      if (this.#served.has(key) || added.has(key)) {
        throw new TriviumError("alreadyExists", `the tool ${name} is already served in this session`);
      }
      added.set(key, { definition, run });
    }
    for (const [key, tool] of added) this.#served.set(key, tool);
    await this.subscribeTo([...added.values()].map(({ definition }) => definition));
  }

  /** Takes every call of the session that nobody else takes. Resolves when calls reach this client. */
  async subscribeToAll(): Promise<void> {
    await this.#subscribe([]);
    if (this.#link.hasEnded) throw await this.#link.ended;
  }

  /** Takes the calls of these tools. Resolves when they reach this client. */
  async subscribeTo(tools: readonly ToolDefinition[]): Promise<void> {
    const names = tools.flatMap(({ name, toolName = name, namespace }) => {
      const key = canonicalToolName(toolName, namespace);
      if (this.#subscribed.has(key)) return [];
      this.#subscribed.add(key);
      return [{ name: toolName, ...(namespace !== undefined && { namespace }) }];
    });
    const opened: Promise<void>[] = [];
    for (let at = 0; at < names.length; at += MAX_FILTERS) {
      opened.push(this.#subscribe(names.slice(at, at + MAX_FILTERS)));
    }
    await Promise.all(opened);
    if (this.#link.hasEnded) throw await this.#link.ended;
  }

  /** The host says that nobody waits for this call any more, perhaps before the call itself arrives. */
  cancel(invocationId: string): void {
    const active = this.#active.get(invocationId);
    if (active !== undefined) active.controller.abort(cancelled());
    else if (!this.#seen.has(invocationId)) this.#cancelledEarly.add(invocationId);
  }

  /** The program is gone: nobody waits for its calls any more. */
  cancelExecution(executionId: string): void {
    for (const active of this.#active.values()) {
      if (active.executionId === executionId) active.controller.abort(cancelled());
    }
  }

  /** Resolves when calls of these tools reach this client. */
  #subscribe(toolNames: { name: string; namespace?: string }[]): Promise<void> {
    const { clock, client, sessionId, signal } = this.#link;
    return new Promise((resolve) => {
      const timer = clock.setTimer(SUBSCRIBE_GRACE_MS, resolve);
      const open = (): void => {
        timer[Symbol.dispose]();
        resolve();
      };
      const request = {
        sessionId,
        toolNames,
        ...(this.#heartbeatIntervalS > 0 && { heartbeatIntervalS: this.#heartbeatIntervalS }),
      };
      const read = async (): Promise<void> => {
        for await (const call of client.subscribeToToolCalls(request, { signal, onHeader: open })) {
          this.#take(call);
        }
      };
      void read()
        .then(
          () => this.#link.end("the host ended a tool call subscription"),
          (thrown: unknown) => this.#link.end("a tool call subscription failed", toError(thrown)),
        )
        .finally(open);
    });
  }

  #take(call: ToolCall): void {
    // What had been received already when the session ended is nobody's call any more.
    if (this.#link.hasEnded) return;
    this.#heard(call.heartbeat !== undefined);
    if (call.heartbeat !== undefined) return;
    const { invocationId } = call;
    const isForeign = call.sessionId !== this.#link.sessionId;
    if (isForeign || !uuid.test(invocationId) || this.#seen.has(invocationId)) {
      const what = `the host sent a tool call with the wrong session or invocation id (${invocationId})`;
      this.#link.end(what, new TriviumError("internal", what));
      return;
    }
    this.#seen.add(invocationId);
    if (this.#cancelledEarly.delete(invocationId)) return;
    void this.#answer(call);
  }

  async #answer(call: ToolCall): Promise<void> {
    const { invocationId } = call;
    const controller = new AbortController();
    const endWithSession = (): void => controller.abort(this.#link.signal.reason);
    this.#link.signal.addEventListener("abort", endWithSession, { once: true });
    this.#active.set(invocationId, { executionId: call.executionId, controller });
    try {
      const outcome = await this.#run(call, controller.signal);
      if (controller.signal.aborted) return;
      await this.#complete(invocationId, outcome).catch(async (thrown: unknown) => {
        if (outcome.case !== "succeeded" || !isRefused(thrown)) throw thrown;
        await this.#complete(invocationId, failure(`the host refused the result: ${thrown.message}`));
      });
    } catch (thrown) {
      // The host ignores late results, so only one that is still awaited tells that something is broken.
      if (!controller.signal.aborted) this.#link.end("a tool result could not be delivered", toError(thrown));
    } finally {
      this.#active.delete(invocationId);
      this.#link.signal.removeEventListener("abort", endWithSession);
    }
  }

  async #complete(invocationId: string, outcome: Completion): Promise<void> {
    const { client, sessionId } = this.#link;
    await this.#link.call((options) =>
      client.completeToolCall({ sessionId, invocationId, outcome }, options),
    );
  }

  async #run(call: ToolCall, signal: AbortSignal): Promise<Completion> {
    const { executionId, cellId, invocationId, inputJson } = call;
    const { name = "", namespace } = call.toolName ?? {};
    const key = canonicalToolName(name, namespace);
    const kind = call.toolKind === ToolKind.FREEFORM ? "freeform" : "function";
    const run = this.#served.get(key)?.run;
    const execution = this.#executions.get(executionId);
    if (execution === undefined) return failure(`the cell ${cellId} is closed or unknown`);
    const hasHandler = run !== undefined || (this.#delegate !== undefined && key !== EXEC);
    if (!hasHandler || !execution.tools.has(`${kind} ${key}`)) {
      return failure(`the tool ${name} is not enabled in this execution`);
    }
    if (this.#active.size > this.#maxPendingCalls) {
      return failure(`too many tool calls at a time: this client runs ${this.#maxPendingCalls}`);
    }
    try {
      const input: unknown =
        inputJson === undefined ? undefined : JSON.parse(new TextDecoder().decode(inputJson));
      const context = { signal, executionId, cellId, invocationId };
      const { runtimeToolCallId } = call;
      const delegated = { name, namespace, kind, input, runtimeToolCallId } as const;
      return success(await (run === undefined ? this.#delegate?.(delegated, context) : run(input, context)));
    } catch (thrown) {
      return failure(toError(thrown).message);
    }
  }
}

/** A host that does not take what it was sent leaves the call open. */
function isRefused(thrown: unknown): thrown is TriviumError {
  return TriviumError.isInstance(thrown) && (thrown.kind === "invalidInput" || thrown.kind === "outOfRange");
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown), { cause: thrown });
}

function cancelled(): DOMException {
  return new DOMException("the call was cancelled", "AbortError");
}
