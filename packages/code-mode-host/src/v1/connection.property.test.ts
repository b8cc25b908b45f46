import type { ScriptedCell } from "@trivium/code-mode-runtime/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  createV1Harness,
  type HostMessage,
  openV1Client,
  settle,
  type V1Client,
  type V1Harness,
  v1Tool,
} from "../testing/v1-harness.ts";

/** One thing that the client, a program or the clock does. Numbers choose among what there is. */
type Step =
  | { readonly do: "execute" | "wait" | "advance"; readonly timeMs: number; readonly pick: number }
  | {
      readonly do:
        | "terminate"
        | "cancel"
        | "yield"
        | "answer"
        | "text"
        | "call"
        | "notify"
        | "complete"
        | "let";
      readonly pick: number;
    };

const pick = fc.nat(20);
const timeMs = fc.constantFrom(0, 10, 1000);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom("execute", "wait", "advance"), timeMs, pick }),
  fc.record({
    do: fc.constantFrom(
      "terminate",
      "cancel",
      "yield",
      "answer",
      "text",
      "call",
      "notify",
      "complete",
      "let",
    ),
    pick,
  }),
);

/** Longer than every wait, and than a host waits for the answer to a notification. */
const LONG_MS = 40_000;

/** A connection on which steps are carried out, with what was asked of it. */
class Play {
  readonly #harness: V1Harness;
  readonly #methods = new Map<number, string>();
  readonly #answered = new Set<number>();
  readonly #cells: ScriptedCell[] = [];
  readonly #client: V1Client;
  #lastId = 0;
  #calls = 0;

  private constructor(client: V1Client, harness: V1Harness) {
    this.#client = client;
    this.#harness = harness;
  }

  static async open(): Promise<Play> {
    const harness = createV1Harness();
    return new Play(await openV1Client(harness), harness);
  }

  async take(next: Step): Promise<void> {
    const cell = this.#cells[next.pick % Math.max(1, this.#cells.length)];
    const program = cell?.hasEnded === false ? cell : undefined;
    const cellId = String(1 + (next.pick % (this.#cells.length + 1)));
    switch (next.do) {
      case "execute":
        this.#request("session/execute", {
          request: {
            tool_call_id: "t",
            enabled_tools: [v1Tool("x")],
            source: "",
            yield_time_ms: next.timeMs,
          },
        });
        break;
      case "wait":
        this.#request("session/wait", { request: { cell_id: cellId, yield_time_ms: next.timeMs } });
        break;
      case "terminate":
        this.#request("session/terminate", { cellId });
        break;
      case "cancel":
      case "yield":
        this.#client.send({ type: `operation/${next.do}`, id: 1 + (next.pick % (this.#lastId + 1)) });
        break;
      case "answer":
        this.#answer(next.pick);
        break;
      case "text":
        program?.text("x");
        break;
      case "call":
        program?.call(`tool-${++this.#calls}`, "x");
        break;
      case "notify":
        program?.listener.notified("n");
        break;
      case "complete":
        program?.complete();
        break;
      case "advance":
        await this.#harness.clock.advance(next.timeMs + 1);
        break;
      case "let":
        await this.#settle();
    }
  }

  /** Ends the session, and gives what the host has said. */
  async finish(): Promise<readonly HostMessage[]> {
    await this.#settle();
    this.#request("session/shutdown", {});
    while (this.#client.messages.at(-1)?.result?.value?.type !== "session/closed") {
      await this.#settle();
      await this.#harness.clock.advance(LONG_MS);
    }
    this.#client.stop();
    expect(await this.#client.ended).toBeUndefined();
    expect(this.#harness.runtime.stats()).toMatchObject({ sessions: 0, openCells: 0 });
    return this.#client.messages;
  }

  get methods(): ReadonlyMap<number, string> {
    return this.#methods;
  }

  isAnswered(delegateId: number): boolean {
    return this.#answered.has(delegateId);
  }

  #request(method: string, body: object): void {
    this.#methods.set(++this.#lastId, method);
    this.#client.request(this.#lastId, { method, sessionId: "s1", ...body });
  }

  #answer(chosen: number): void {
    const open = this.#client.messages.filter(
      ({ type, id }) => type === "delegate/request" && !this.#answered.has(id),
    );
    const delegate = open[chosen % Math.max(1, open.length)];
    if (delegate === undefined) return;
    this.#answered.add(delegate.id);
    const value =
      delegate.request.type === "tool/invoke"
        ? { type: "tool/result", result: 1 }
        : { type: "notification/delivered" };
    this.#client.send({ type: "delegate/response", id: delegate.id, result: { status: "ok", value } });
  }

  /** Lets the host take everything in, and begins the programs that it has started. */
  async #settle(): Promise<void> {
    for (let turn = 0; turn < 4; turn++) await settle();
    for (const cell of this.#harness.engine.cells.slice(this.#cells.length)) {
      this.#cells.push(cell);
      cell.listener.ready();
    }
  }
}

/** What the protocol promises of every conversation. */
function check(messages: readonly HostMessage[], play: Play): void {
  const count = (type: string, id: unknown): number =>
    messages.filter((message) => message.type === type && message.id === id).length;
  for (const id of play.methods.keys()) expect(count("operation/response", id)).toBe(1);
  const closedAt = new Map<string, number>();
  const startedAt = new Map<string, number>();
  const open = new Map<number, string>();
  for (const [at, message] of messages.entries()) {
    const { type, id, result, request, cellId } = message;
    const about = cellOf(message);
    if (result?.value?.type === "execution/started") {
      startedAt.set(result.value.cellId, at);
      expect(count("execute/initialResponse", id)).toBe(1);
    } else if (about !== undefined) {
      expect(startedAt.has(about)).toBe(true);
      expect(closedAt.has(about)).toBe(false);
    }
    if (type === "delegate/request") open.set(id, request.invocation?.cell_id ?? request.cellId);
    // Taken back at most once, and only what was asked.
    if (type === "delegate/cancel") expect(open.delete(id)).toBe(true);
    if (type === "cell/closed") {
      closedAt.set(cellId, at);
      const left = [...open].filter(([delegate, cell]) => cell === cellId && !play.isAnswered(delegate));
      expect(left).toEqual([]);
    }
  }
  expect([...closedAt.keys()].toSorted()).toEqual([...startedAt.keys()].toSorted());
}

/** The cell that a message is about, as one that is there. */
function cellOf({ type, result, request, cellId }: HostMessage): string | undefined {
  if (type === "cell/closed") return cellId;
  if (type === "delegate/request") return request.invocation?.cell_id ?? request.cellId;
  const outcome = type === "execute/initialResponse" ? result.value : result?.value?.outcome?.LiveCell;
  const body: HostMessage = Object.values(outcome ?? {})[0];
  return body?.cell_id;
}

it("whatever happens in which order, requests are answered once and nothing is said of a closed cell", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80, size: "max" }), async (steps) => {
      const play = await Play.open();
      for (const next of steps) await play.take(next);
      check(await play.finish(), play);
    }),
    { numRuns: 60 },
  );
});
