import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Message } from "../conversation/message.ts";
import { outline, Reader, RuntimeFixture } from "../testing/runtime-fixture.ts";

const bash = (id: string, command: string) => ({ id, name: "Bash", input: { command } });
const bypass = { permissions: { run_everything: true } };
const durable = { isDurable: true };

it("a subscription to all sessions sees what the recovery of a session publishes", async () => {
  await using fixture = await RuntimeFixture.create({
    ...durable,
    script: [{ text: ["par", "tial"], hold: "gate", hold_after_chunks: 1 }],
  });
  await (await fixture.send("x")).find({ type: "stream_text" });
  await using copy = await fixture.afterCrash();
  const abort = new AbortController();
  const { events } = await copy.runtime.subscribe({ session: { sessionId: "" }, signal: abort.signal });
  const all = new Reader(events, abort);
  await copy.runtime.listModels("");
  await copy.runtime.switchMode("", "plan");
  await all.find({ type: "mode_change" });
  expect(outline(all.events)).toEqual(["server.connected", "turn_complete:interrupted", "mode_change:plan"]);
  all.leave();
  fixture.models.release("gate");
});

describe("after a clean restart", () => {
  it("history, numbering, keys, title and default session are as before", async () => {
    await using fixture = await RuntimeFixture.create({
      ...durable,
      script: [{ text: "one" }, { text: "two" }],
    });
    const first = await (await fixture.send("x", { idempotencyKey: "k" })).all();
    const { sessionId } = await fixture.runtime.listModels("");
    await fixture.runtime.close();
    fixture.runtime = fixture.start();
    const bus = await fixture.watch({ sessionId, afterSeq: "0" });
    expect(await (await fixture.send("x", { idempotencyKey: "k" })).all()).toEqual(first);
    const last = await (await fixture.send("y")).all();
    expect(last[0]).toMatchObject({ seq: 5, epoch: first[0]?.["epoch"], session_id: sessionId });
    await bus.find({ type: "turn_complete" }, 2);
    expect(bus.events.slice(1).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(textsOf(fixture.models.requests[1]?.messages)).toEqual(["x", "one", "y"]);
  });

  it("the mode is agent again, grants are gone, the chosen model stays", async () => {
    await using fixture = await RuntimeFixture.create({
      ...durable,
      script: [
        { tool_calls: [bash("c1", "echo a")] },
        { text: "ok" },
        { tool_calls: [bash("c2", "echo b")] },
        { text: "ok" },
      ],
    });
    const first = await fixture.send("x");
    await first.find({ type: "permission_request" });
    await fixture.runtime.respondPermission({
      sessionId: "",
      toolUseId: "c1",
      isAllowed: true,
      alwaysAllow: true,
    });
    await first.ended;
    await fixture.runtime.switchMode("", "plan");
    await fixture.runtime.switchModel("", "other");
    await fixture.runtime.close();
    fixture.runtime = fixture.start();
    expect((await fixture.runtime.listModels("")).currentModel).toBe("other");
    const bus = await fixture.subscribe();
    expect(await bus.find({ type: "server.connected" })).toMatchObject({ properties: { mode: "agent" } });
    const second = await fixture.send("y");
    await second.find({ type: "permission_request" });
    await expect(
      fixture.runtime.respondPermission({ sessionId: "", toolUseId: "c1", isAllowed: true }),
    ).rejects.toMatchObject({ reason: "REQUEST_ALREADY_ANSWERED" });
  });

  it("another session can be resumed by its id", async () => {
    await using fixture = await RuntimeFixture.create({
      ...durable,
      script: [{ text: "one" }, { text: "two" }],
    });
    await (await fixture.send("x", { session: { sessionId: "mine", create: true } })).ended;
    await fixture.runtime.close();
    fixture.runtime = fixture.start();
    await (await fixture.send("y", { session: { sessionId: "mine" } })).ended;
    expect(textsOf(fixture.models.requests[1]?.messages)).toEqual(["x", "one", "y"]);
  });
});

describe("the data folder", () => {
  it("holds transcripts that only the user can read, and is held by one process", async () => {
    await using fixture = await RuntimeFixture.create({ ...durable, script: [{ text: "one" }] });
    await (await fixture.send("x")).ended;
    const { sessionId } = await fixture.runtime.listModels("");
    const transcripts = join(fixture.dataDir, "crabcode", "transcripts");
    expect(await readdir(transcripts)).toEqual([`${sessionId}.jsonl`]);
    const file = join(transcripts, `${sessionId}.jsonl`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(fixture.dataDir, "crabcode"))).mode & 0o777).toBe(0o700);
    const lines = (await readFile(file, "utf8"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ type, content }) => [type, content[0].text])).toEqual([
      ["user", "x"],
      ["assistant", "one"],
    ]);
    expect(lines[1].parent_uuid).toBe(lines[0].uuid);
    expect(() => fixture.start()).toThrow(new RegExp(`in use by process ${process.pid}`));
  });
});

describe("after a crash", () => {
  it("item 11: text that was streamed is kept and the turn ends as interrupted", async () => {
    await using fixture = await RuntimeFixture.create({
      ...durable,
      script: [{ text: ["one ", "two"], hold: "never", hold_after_chunks: 1 }],
    });
    const sender = await fixture.send("x", { idempotencyKey: "k" });
    const partial = await sender.find({ type: "stream_text" });
    await using crashed = await fixture.afterCrash([{ text: "fresh" }]);
    const again = new Reader((await send(crashed, "x", "k")).events);
    const events = await again.all();
    expect(outline(events)).toEqual([
      "stream_mode:requesting",
      "stream_mode:responding",
      "stream_text:one ",
      "turn_complete:interrupted",
    ]);
    expect(events[2]).toEqual(partial);
    expect(events[3]).toMatchObject({
      operation_id: partial["operation_id"],
      operation_scope: "background",
      turn_count: 0,
    });
    await new Reader((await send(crashed, "y")).events).ended;
    expect(crashed.models.requests[0]?.messages.slice(1)).toMatchObject([
      { role: "user", content: [{ text: "x" }] },
      { role: "assistant", content: [{ text: "one " }], origin: "partial" },
      { role: "user", content: [{ text: "y" }] },
    ]);
  });

  it("calls that had begun are not run again and say that they may have had an effect", async () => {
    await using fixture = await RuntimeFixture.create({
      ...durable,
      script: [
        { tool_calls: [bash("c0", "echo a")] },
        {
          tool_calls: [
            { id: "c1", name: "Glob", input: { pattern: "*" } },
            bash("c2", "sleep 9"),
            bash("c3", "echo c"),
          ],
        },
      ],
      settings: bypass,
    });
    const started = Promise.withResolvers<void>();
    fixture.toolbox.onCommand = async ({ command, signal }) => {
      if (!command.startsWith("sleep")) return {};
      started.resolve();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      return {};
    };
    const sender = await fixture.send("x");
    await started.promise;
    await sender.find({ type: "tool_result", tool_use_id: "c1" });
    await using crashed = await fixture.afterCrash([{ text: "fresh" }]);
    await new Reader((await send(crashed, "y")).events).ended;
    const messages = crashed.models.requests[0]?.messages ?? [];
    expect(messages.at(-2)?.content).toEqual([
      { type: "tool_result", tool_use_id: "c1", content: "No files matched the pattern.", is_error: false },
      {
        type: "tool_result",
        tool_use_id: "c2",
        content: "Interrupted: the server stopped while this call was running; it may have had an effect",
        is_error: true,
      },
      { type: "tool_result", tool_use_id: "c3", content: "Interrupted", is_error: true },
    ]);
    expectValidHistory(messages);
    expect(fixture.toolbox.commands).toEqual(["echo a", "sleep 9"]);
  });

  it("an open permission question is asked again for the time that is left, and the turn goes on", async () => {
    await using fixture = await RuntimeFixture.create({
      ...durable,
      script: [{ tool_calls: [bash("c1", "echo a"), bash("c2", "echo b"), bash("c3", "")] }],
    });
    const sender = await fixture.send("x", { idempotencyKey: "k" });
    await sender.find({ type: "permission_request", tool_use_id: "c1" });
    await fixture.runtime.respondPermission({ sessionId: "", toolUseId: "c1", isAllowed: true });
    const asked = await sender.find({ type: "permission_request", tool_use_id: "c2" });
    await fixture.clock.advance(60_000);
    await using crashed = await fixture.afterCrash([{ text: "done" }]);
    const again = new Reader((await send(crashed, "x", "k")).events);
    const askedAgain = await again.find({ type: "permission_request", tool_use_id: "c2" }, 2);
    expect(askedAgain).toMatchObject({
      expires_at: asked["expires_at"],
      operation_id: asked["operation_id"],
      operation_scope: "background",
    });
    await crashed.runtime.respondPermission({ sessionId: "", toolUseId: "c2", isAllowed: true });
    const events = await again.all();
    expect(events.at(-1)).toMatchObject({
      reason: "end_turn",
      turn_count: 2,
      usage: { input_tokens: 20, output_tokens: 10 },
    });
    expect(outline(events).slice(-8)).toEqual([
      "permission_request:c2",
      "stream_mode:tool-running",
      "tool_result:c1",
      "tool_result:c2",
      "stream_mode:requesting",
      "stream_mode:responding",
      "stream_text:done",
      "turn_complete:end_turn",
    ]);
    expect(
      events.filter(({ type, tool_use_id }) => type === "tool_result" && tool_use_id === "c3"),
    ).toHaveLength(1);
    expectValidHistory(crashed.models.requests[0]?.messages ?? []);
  });

  it("an open choice is asked again too", async () => {
    await using fixture = await RuntimeFixture.create({
      ...durable,
      script: [
        { tool_calls: [{ id: "c1", name: "AskUser", input: { question: "Which?", options: ["a", "b"] } }] },
      ],
    });
    await (await fixture.send("x")).find({ type: "choice_request" });
    await using crashed = await fixture.afterCrash([{ text: "done" }]);
    const { sessionId } = await crashed.runtime.listModels("");
    const abort = new AbortController();
    const { events } = await crashed.runtime.subscribe({
      session: { sessionId },
      afterSeq: "0",
      signal: abort.signal,
    });
    const bus = new Reader(events, abort);
    await bus.find({ type: "choice_request" }, 2);
    await crashed.runtime.respondChoice({ sessionId: "", toolUseId: "c1", selected: ["b"] });
    await bus.find({ type: "turn_complete", reason: "end_turn" });
    expect(await bus.find({ type: "tool_result" })).toMatchObject({ result: "User selected: b" });
    bus.leave();
  });

  it("a waiting message is dropped, one with a key is run", async () => {
    await using fixture = await RuntimeFixture.create({
      ...durable,
      script: [{ text: "one", hold: "never" }],
    });
    await (await fixture.send("1")).find({ type: "stream_mode" });
    await fixture.send("2");
    await fixture.send("3", { idempotencyKey: "k" });
    await using crashed = await fixture.afterCrash([{ text: "three" }]);
    const events = await new Reader((await send(crashed, "3", "k")).events).all();
    expect(outline(events)).toContain("stream_text:three");
    expect(textsOf(crashed.models.requests[0]?.messages)).toEqual(["1", "3"]);
  });

  it("at the very end of a turn nothing is said twice", async () => {
    await using fixture = await RuntimeFixture.create({ ...durable, script: [{ text: "one" }] });
    const events = await (await fixture.send("x")).all();
    await using crashed = await fixture.afterCrash();
    const { sessionId } = await crashed.runtime.listModels("");
    const { events: bus } = await crashed.runtime.subscribe({ session: { sessionId }, afterSeq: "0" });
    const iterator = bus[Symbol.asyncIterator]();
    const seen: string[] = [];
    for (let count = 0; count < 5; count++) seen.push((await iterator.next()).value.type);
    await iterator.return?.();
    expect(seen).toEqual(["server.connected", ...events.map(({ type }) => type)]);
  });
});

function send(copy: { runtime: RuntimeFixture["runtime"] }, text: string, idempotencyKey?: string) {
  return copy.runtime.sendMessage({
    session: { sessionId: "" },
    text,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
}

/** Texts of a request's history without the context that is put in front. */
function textsOf(messages: readonly Message[] | undefined): string[] {
  return (messages ?? [])
    .slice(1)
    .flatMap(({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])));
}

function expectValidHistory(messages: readonly Message[]): void {
  for (const [index, { content }] of messages.entries()) {
    const uses = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    const results = messages[index + 1]?.content.flatMap((block) =>
      block.type === "tool_result" ? [block.tool_use_id] : [],
    );
    if (uses.length > 0) expect(results).toEqual(uses);
  }
}
