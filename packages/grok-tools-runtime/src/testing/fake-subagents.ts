import type { Subagent, SubagentEnd, SubagentRequest, Subagents } from "../subagents/subagents.ts";

/** A child that a test ends. */
export interface FakeSubagent extends Subagent {
  readonly request: SubagentRequest;
  readonly cancelReasons: readonly string[];
  finish(end?: Partial<SubagentEnd>): void;
}

/** A host whose children do what a test says. */
export interface FakeSubagents extends Subagents {
  readonly children: readonly FakeSubagent[];
  /** The next starts fail with this. */
  failure: Error | undefined;
}

/** Makes a {@link FakeSubagents}. `onStart` may end a child at once. */
export function fakeSubagents(onStart: (child: FakeSubagent) => void = () => {}): FakeSubagents {
  const children: FakeSubagent[] = [];
  return {
    host: "local",
    children,
    failure: undefined,
    async start(request) {
      if (this.failure !== undefined) throw this.failure;
      await Promise.resolve();
      const child = fakeChild(request, `child-${children.length + 1}`);
      children.push(child);
      onStart(child);
      return child;
    },
    get: (id) => children.find((child) => child.id === id),
    list: () => children,
    types: () => Promise.resolve([]),
  };
}

function fakeChild(request: SubagentRequest, id: string): FakeSubagent {
  const finished = Promise.withResolvers<SubagentEnd>();
  const cancelReasons: string[] = [];
  let end: SubagentEnd | undefined;
  const finish = (given: Partial<SubagentEnd> = {}): void => {
    end ??= {
      status: "completed",
      output: `output of ${id}`,
      error: undefined,
      toolCalls: 0,
      turns: 1,
      durationMs: 1,
      totalTokens: undefined,
      worktreePath: undefined,
      ...given,
    };
    finished.resolve(end);
  };
  return {
    id,
    type: request.type ?? "general-purpose",
    description: request.description,
    request,
    cancelReasons,
    isBackground: request.owner !== "foreground",
    startedAtMs: 0,
    get endedAtMs() {
      return end === undefined ? undefined : 0;
    },
    progress: undefined,
    hold: () => ({ [Symbol.dispose]: () => {} }),
    get status() {
      return end?.status ?? "running";
    },
    get end() {
      return end;
    },
    finished: finished.promise,
    finish,
    markDelivered: () => {},
    cancel(reason) {
      if (end !== undefined) return Promise.resolve(false);
      cancelReasons.push(reason);
      finish({ status: "cancelled" });
      return Promise.resolve(true);
    },
  };
}
