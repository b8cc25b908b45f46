import { describe, expect, it } from "vitest";
import { outline, RuntimeFixture } from "../testing/runtime-fixture.ts";

describe("a failing model", () => {
  it("ends the turn with an error that says whether to give up", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ failure: { kind: "auth", message: "bad key", status: 401 } }, { text: "works again" }],
    });
    const events = await (await fixture.send("x")).all();
    expect(outline(events)).toEqual(["stream_mode:requesting", "error:auth", "turn_complete:error"]);
    expect(events[1]).toMatchObject({ recoverable: false, message: "bad key", agent_id: null });
    expect(events[2]).toMatchObject({ turn_count: 1 });
    expect(outline(await (await fixture.send("y")).all()).at(-1)).toBe("turn_complete:end_turn");
  });

  it("is asked again after a passing failure, and says so", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [
        { failure: { kind: "transient", message: "slow down", status: 429 } },
        { failure: { kind: "transient", message: "busy", retryAfterMs: 300_000 } },
        { text: "hello" },
      ],
    });
    const reader = await fixture.send("x");
    const first = await reader.find({ type: "stream_retry" });
    expect(first).toMatchObject({ retry_count: 1, max_retries: 5, delay_seconds: 1, error: "slow down" });
    await fixture.clock.advance(999);
    expect(fixture.models.requests).toHaveLength(1);
    await fixture.clock.advance(1);
    expect(await reader.find({ type: "stream_retry" }, 2)).toMatchObject({ delay_seconds: 60 });
    await fixture.clock.advance(60_000);
    const events = await reader.all();
    expect(outline(events)).toEqual([
      "stream_mode:requesting",
      "stream_retry",
      "stream_retry",
      "stream_mode:responding",
      "stream_text:hello",
      "turn_complete:end_turn",
    ]);
    expect(events.at(-1)).toMatchObject({ turn_count: 1 });
  });

  it("is given up after five more attempts", async () => {
    const failure = { kind: "transient" as const, message: "down" };
    await using fixture = await RuntimeFixture.create({ script: Array(6).fill({ failure }) });
    const reader = await fixture.send("x");
    for (const [index, delayMs] of [1000, 2000, 4000, 8000, 8000].entries()) {
      await reader.find({ type: "stream_retry" }, index + 1);
      await fixture.clock.advance(delayMs);
    }
    expect(outline(await reader.all()).slice(-2)).toEqual(["error:network", "turn_complete:error"]);
    expect(fixture.models.requests).toHaveLength(6);
  });

  it("is not asked again once clients saw something, which is kept", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [
        { text: "half", failure: { kind: "transient", message: "reset" }, failsAfterOutput: true },
        { text: "whole" },
      ],
    });
    const events = await (await fixture.send("x")).all();
    expect(outline(events).slice(2)).toEqual(["stream_text:half", "error:network", "turn_complete:error"]);
    await (await fixture.send("y")).all();
    expect(fixture.models.requests[1]?.messages.find(({ role }) => role === "assistant")).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "half" }],
      origin: "partial",
    });
  });

  it("that throws is a failure like any other", async () => {
    await using fixture = await RuntimeFixture.create();
    fixture.models.open("script");
    const broken = {
      ...fixture.models.open("script"),
      // oxlint-disable-next-line require-yield
      async *stream() {
        throw new Error("adapter bug");
      },
    };
    fixture.models.open = () => broken;
    const events = await (await fixture.send("x")).all();
    expect(events[1]).toMatchObject({ type: "error", error_type: "", message: "adapter bug" });
    expect(outline(events).at(-1)).toBe("turn_complete:error");
  });

  it("whose profile cannot be opened is an error of the configuration", async () => {
    await using fixture = await RuntimeFixture.create();
    fixture.models.unusable.add("script");
    const events = await (await fixture.send("x")).all();
    expect(outline(events)).toEqual(["error:config", "turn_complete:error"]);
    expect(events[1]).toMatchObject({ turn_count: 0, usage: { input_tokens: 0, output_tokens: 0 } });
  });

  it("is not asked when the conversation does not fit", async () => {
    await using fixture = await RuntimeFixture.create();
    fixture.models.contextWindowTokens = 1000;
    const events = await (await fixture.send("word ".repeat(4000))).all();
    expect(outline(events)).toEqual(["error:context_overflow", "turn_complete:context_overflow"]);
    expect(fixture.models.requests).toEqual([]);
  });

  it("gets only the room that is left for its answer", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }] });
    fixture.models.contextWindowTokens = 8000;
    await (await fixture.send("hi")).all();
    const [request] = fixture.models.requests;
    expect(request?.maxOutputTokens).toBeLessThan(8000 - 512);
    expect(request?.maxOutputTokens).toBeGreaterThan(256);
  });

  it("stopped by a content filter without text is an error", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ finish: "content-filter" }] });
    expect(outline(await (await fixture.send("x")).all()).slice(1)).toEqual([
      "error:content_filter",
      "turn_complete:error",
    ]);
  });
});
