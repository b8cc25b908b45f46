import { Code } from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";
import { ManualClock, sequentialIds } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import type { CrabcodeClientEvent } from "./client-event.ts";
import { CrabcodeClient } from "./crabcode-client.ts";
import { crabcodeErrorReason } from "./error-reason.ts";
import {
  connectionLoss,
  event,
  type FakeService,
  fakeService,
  permissionRequest,
  refusal,
  type Step,
  text,
  toolResult,
  turnComplete,
} from "./testing/fake-service.ts";

const requesting = { type: "stream_mode", mode: "requesting", agent_id: null };
const heartbeat = { type: "server.heartbeat", properties: {} };

describe("CrabcodeClient.send", () => {
  it("delivers typed events in order, without heartbeats, and then the result", async () => {
    const service = fakeService([
      [heartbeat, event(1, requesting), text(2, "Hel"), text(3, "lo"), turnComplete(4)],
    ]);
    const turn = clientOf(service).send("hi", { maxTurns: 2, sessionId: "s1" });
    const words: string[] = [];
    const types: string[] = [];
    for await (const received of turn) {
      types.push(received.type);
      if (received.type === "stream_text") words.push(received.text);
    }
    expect(types).toEqual(["stream_mode", "stream_text", "stream_text", "turn_complete"]);
    expect(words).toEqual(["Hel", "lo"]);
    expect(await turn.result()).toEqual({
      sessionId: "s1",
      operationId: "op",
      reason: "end_turn",
      text: "Hello",
      turnCount: 1,
      usage: { input_tokens: 10, output_tokens: 5 },
      errors: [],
    });
    expect(service.calls[0]?.request).toMatchObject({ text: "hi", maxTurns: 2, sessionId: "s1" });
  });

  it("sends at once and gives the result without being iterated", async () => {
    const service = fakeService([[text(1, "a"), turnComplete(2)]]);
    const turn = clientOf(service).send("hi");
    await expect.poll(() => service.calls.length).toBe(1);
    expect(await turn.result()).toMatchObject({ reason: "end_turn", text: "a" });
  });

  it("turns options into metadata", async () => {
    const service = fakeService([[turnComplete(1)]]);
    const options = { create: true, cwd: "/w/ü%", isInteractive: false, isDetached: true };
    await clientOf(service)
      .send("hi", { ...options, sessionId: "s1" })
      .result();
    expect(Object.fromEntries(service.calls[0]?.headers ?? [])).toMatchObject({
      "crabcode-create-session": "1",
      "crabcode-cwd": "/w/%C3%BC%25",
      "crabcode-interactive": "0",
      "crabcode-detach": "1",
    });
  });

  it("gives the text of the last step, without what a retry took back", async () => {
    const retry = { type: "stream_retry", discarded_text_chars: 3, agent_id: null };
    const steps = [
      event(1, requesting),
      text(2, "first"),
      event(3, requesting),
      text(4, "one bad"),
      event(5, retry),
      text(6, "good"),
      turnComplete(7),
    ];
    expect(
      await clientOf(fakeService([steps]))
        .send("hi")
        .result(),
    ).toMatchObject({ text: "one good" });
  });

  it("reports errors of the turn in the result, not as a throw", async () => {
    const error = {
      type: "error",
      message: "bad key",
      recoverable: false,
      error_type: "auth",
      agent_id: null,
    };
    const agentError = { ...error, agent_id: "a1" };
    const steps = [event(1, error), event(2, agentError), turnComplete(3, "error")];
    const result = await clientOf(fakeService([steps]))
      .send("hi")
      .result();
    expect(result).toMatchObject({ reason: "error", errors: [{ message: "bad key" }] });
    expect(result.errors).toHaveLength(1);
  });

  it("accepts a stream that ends without turn_complete", async () => {
    const result = await clientOf(fakeService([[text(1, "a")]]))
      .send("hi")
      .result();
    expect(result).toMatchObject({ reason: "unknown", text: "a" });
  });

  it("delivers an event of an unknown type with its payload", async () => {
    const service = fakeService([[event(1, { type: "brand_new", detail: 7 }), turnComplete(2)]]);
    const [first] = await eventsOf(clientOf(service).send("hi"));
    expect(first).toMatchObject({ type: "unknown", wireType: "brand_new", raw: { detail: 7 } });
  });

  it("throws a refusal with its kind and reason, and does not repeat it", async () => {
    const service = fakeService([[refusal(Code.ResourceExhausted, "QUEUE_FULL")]]);
    const error = await failure(clientOf(service).send("hi").result());
    expect(error).toMatchObject({ kind: "resourceExhausted", message: "refused" });
    expect(crabcodeErrorReason(error)).toBe("QUEUE_FULL");
    expect(service.calls).toHaveLength(1);
  });

  it.each([Code.Unavailable, Code.Aborted, Code.Canceled, Code.Internal, Code.Unknown])(
    "joins the turn again after a connection lost as code %i, with the same key and no event twice",
    async (code) => {
      const all = [event(1, requesting), text(2, "a"), text(3, "b"), turnComplete(4)];
      const service = fakeService([[...all.slice(0, 2), connectionLoss(code)], all]);
      const turn = clientOf(service).send("hi");
      expect((await eventsOf(turn)).map((received) => "seq" in received && received.seq)).toEqual([
        1, 2, 3, 4,
      ]);
      const keys = service.calls.map(({ headers }) => headers.get("idempotency-key"));
      expect(keys).toEqual([keys[0], keys[0]]);
      expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
      expect(await turn.result()).toMatchObject({ text: "ab" });
    },
  );

  it("sends nothing twice without a key", async () => {
    const service = fakeService([[text(1, "a"), connectionLoss()], [turnComplete(2)]]);
    const turn = clientOf(service).send("hi", { idempotencyKey: null });
    expect(await failure(turn.result())).toMatchObject({ kind: "unavailable" });
    expect(service.calls).toHaveLength(1);
    expect(service.calls[0]?.headers.has("idempotency-key")).toBe(false);
  });

  it("delivers nothing twice when the beginning of the turn is gone by the resend", async () => {
    const properties = { session_id: "s1", epoch: "ep", from_seq: 1, to_seq: 1, reason: "retention" };
    const service = fakeService([
      [text(1, "a"), text(2, "b"), text(3, "c"), connectionLoss()],
      [{ type: "server.gap", properties }, text(2, "b"), text(3, "c"), turnComplete(4)],
    ]);
    const turn = clientOf(service).send("hi");
    expect((await eventsOf(turn)).map(({ type }) => type)).toEqual([
      "stream_text",
      "stream_text",
      "stream_text",
      "turn_complete",
    ]);
    expect(await turn.result()).toMatchObject({ text: "abc" });
  });

  it("gives up when the connection is lost twice", async () => {
    const service = fakeService([[text(1, "a"), connectionLoss()], [connectionLoss()], [turnComplete(2)]]);
    expect(await failure(clientOf(service).send("hi").result())).toMatchObject({ kind: "unavailable" });
    expect(service.calls).toHaveLength(2);
  });

  it("does not mind a connection lost after turn_complete", async () => {
    const service = fakeService([[turnComplete(1), connectionLoss()]]);
    expect(await clientOf(service).send("hi").result()).toMatchObject({ reason: "end_turn" });
    expect(service.calls).toHaveLength(1);
  });

  it("rejects with the reason of its signal and cancels the call", async () => {
    const service = fakeService([[text(1, "a"), "wait"]]);
    const controller = new AbortController();
    const reason = new Error("enough");
    const turn = clientOf(service).send("hi", { signal: controller.signal });
    const reading = (async () => {
      for await (const _ of turn) controller.abort(reason);
    })();
    expect(await failure(reading)).toBe(reason);
    expect(await failure(turn.result())).toBe(reason);
    await expect.poll(() => service.calls[0]?.signal.aborted).toBe(true);
  });

  it("cancels the call when the loop is left", async () => {
    const service = fakeService([[text(1, "a"), "wait"]]);
    for await (const _ of clientOf(service).send("hi")) break;
    await expect.poll(() => service.calls[0]?.signal.aborted).toBe(true);
  });
});

describe("questions of a turn", () => {
  it.each([
    ["allow", { allowed: true, alwaysAllow: false }],
    ["always", { allowed: true, alwaysAllow: true }],
    ["deny", { allowed: false, alwaysAllow: false }],
  ] as const)("the decision %s is sent to the session and agent that ask", async (decision, expected) => {
    const gate = Promise.withResolvers<void>();
    const service = fakeService([[permissionRequest(1, { agent_id: "a1" }), gate.promise, turnComplete(2)]]);
    const result = clientOf(service)
      .send("hi", {
        onPermission: ({ tool_name: name }) => {
          expect(name).toBe("Bash");
          return decision;
        },
      })
      .result();
    await expect
      .poll(() => service.answers)
      .toEqual([{ sessionId: "s1", toolUseId: "c1", agentId: "a1", ...expected }]);
    gate.resolve();
    await result;
  });

  it.each([
    [["b"], { selected: ["b"], cancelled: false }],
    [null, { selected: [], cancelled: true }],
  ])("the choice %j is sent", async (choice, expected) => {
    const gate = Promise.withResolvers<void>();
    const question = {
      type: "choice_request",
      tool_use_id: "c1",
      question: "which",
      options: ["a", "b"],
      multiple: false,
      agent_id: null,
    };
    const service = fakeService([[event(1, question), gate.promise, turnComplete(2)]]);
    const result = clientOf(service)
      .send("hi", { onChoice: async () => choice })
      .result();
    await expect.poll(() => service.answers).toEqual([{ sessionId: "s1", toolUseId: "c1", ...expected }]);
    gate.resolve();
    await result;
  });

  it("abort the callback when somebody else settles them", async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    const gate = Promise.withResolvers<void>();
    const service = fakeService([[permissionRequest(1), gate.promise, toolResult(2), turnComplete(3)]]);
    const result = clientOf(service)
      .send("hi", {
        onPermission: (_request, { signal }) => {
          asked.resolve(signal);
          return new Promise(() => {});
        },
      })
      .result();
    const signal = await asked.promise;
    expect(signal.aborted).toBe(false);
    gate.resolve();
    await result;
    expect(signal.aborted).toBe(true);
    expect(service.answers).toEqual([]);
  });

  it("do not mind that an answer came too late", async () => {
    const answered = Promise.withResolvers<void>();
    const service = fakeService([[permissionRequest(1), answered.promise, turnComplete(2)]], {
      respondPermission() {
        answered.resolve();
        return Promise.reject(refusal(Code.FailedPrecondition, "REQUEST_ALREADY_ANSWERED"));
      },
    });
    const result = clientOf(service)
      .send("hi", { onPermission: () => "allow" })
      .result();
    expect(await result).toMatchObject({ reason: "end_turn" });
  });

  it("are answered again when the answer is lost with its connection", async () => {
    const answered = Promise.withResolvers<void>();
    let attempts = 0;
    const service = fakeService([[permissionRequest(1), answered.promise, toolResult(2), turnComplete(3)]], {
      async respondPermission() {
        attempts += 1;
        if (attempts < 3) throw connectionLoss();
        answered.resolve();
        return {};
      },
    });
    let asked = 0;
    const clock = new ManualClock();
    const result = clientOf(service, clock)
      .send("hi", {
        onPermission: () => {
          asked += 1;
          return "allow";
        },
      })
      .result();
    // The longest the pauses can be; the first one does not reach into the end of the second.
    for (const [attempt, pauseMs] of [
      [1, 250],
      [2, 500],
    ] as const) {
      await expect.poll(() => [attempts, clock.pendingTimers]).toEqual([attempt, 1]);
      await clock.advance(pauseMs);
    }
    expect(await result).toMatchObject({ reason: "end_turn" });
    expect(asked).toBe(1);
  });

  it("are not answered any more once they are settled", async () => {
    const lost = Promise.withResolvers<void>();
    const service = fakeService([[permissionRequest(1), lost.promise, toolResult(2), turnComplete(3)]], {
      respondPermission: () => Promise.reject(connectionLoss()),
    });
    const clock = new ManualClock();
    const result = clientOf(service, clock)
      .send("hi", { onPermission: () => "allow" })
      .result();
    await expect.poll(() => clock.pendingTimers).toBe(1);
    lost.resolve();
    await result;
    expect(clock.pendingTimers).toBe(0);
  });

  it("end the turn with what their callback throws", async () => {
    const service = fakeService([[permissionRequest(1), "wait"]]);
    const broken = new Error("the dialog broke");
    const onPermission = (): never => {
      throw broken;
    };
    expect(await failure(clientOf(service).send("hi", { onPermission }).result())).toBe(broken);
    await expect.poll(() => service.calls[0]?.signal.aborted).toBe(true);
  });
});

it("a turn is read once", async () => {
  const turn = clientOf(fakeService([[turnComplete(1)]])).send("hi");
  await eventsOf(turn);
  await expect(eventsOf(turn)).rejects.toThrow("a turn can be read once");
});

it("an unreadable payload is an internal error that names the type", async () => {
  const broken: Step = { type: "stream_text", toJSON: () => [1] };
  const error = await failure(
    clientOf(fakeService([[broken]]))
      .send("hi")
      .result(),
  );
  expect(TriviumError.isInstance(error) && error.message).toBe(
    "the payload of a stream_text event is no object",
  );
});

function clientOf({ transport }: FakeService, clock?: ManualClock): CrabcodeClient {
  return new CrabcodeClient(transport, { ids: sequentialIds(), ...(clock !== undefined && { clock }) });
}

async function eventsOf(turn: AsyncIterable<CrabcodeClientEvent>): Promise<CrabcodeClientEvent[]> {
  const events: CrabcodeClientEvent[] = [];
  for await (const received of turn) events.push(received);
  return events;
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error("it succeeded"),
    (error: unknown) => error,
  );
}
