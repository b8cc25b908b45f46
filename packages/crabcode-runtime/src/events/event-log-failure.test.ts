import { expect, it } from "vitest";
import { FaultyEventLogs } from "../testing/faulty-event-logs.ts";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";

it("ends the stream of a turn with an error when events cannot be written, and the next turn may work", async () => {
  const eventLogs = new FaultyEventLogs();
  await using fixture = await RuntimeFixture.create({
    script: [{ text: "a", hold: "go" }, { text: "b" }],
    runtime: { eventLogs },
  });
  const reader = await fixture.send("x");
  await reader.find({ type: "stream_mode" });
  eventLogs.unwritable = "";
  fixture.models.release("go");
  await expect(reader.ended).rejects.toMatchObject({ kind: "internal" });
  eventLogs.unwritable = undefined;
  const events = await (await fixture.send("y")).all();
  expect(events.at(-1)).toMatchObject({ type: "turn_complete", reason: "end_turn" });
});

it("ends a turn at once whose question cannot be written", async () => {
  const eventLogs = new FaultyEventLogs();
  const call = { id: "t1", name: "Write", input: { file_path: "a.txt", content: "x" } };
  await using fixture = await RuntimeFixture.create({
    script: [{ tool_calls: [call] }, { text: "b" }],
    runtime: { eventLogs },
  });
  eventLogs.unwritable = '"permission_request"';
  await expect((await fixture.send("x")).ended).rejects.toMatchObject({ kind: "internal" });
  const answer = { sessionId: "", toolUseId: "t1", isAllowed: true };
  await expect(fixture.runtime.respondPermission(answer)).rejects.toMatchObject({
    reason: "REQUEST_NOT_PENDING",
  });
  expect((await (await fixture.send("y")).all()).at(-1)).toMatchObject({ reason: "end_turn" });
});

it("ends a stream whose log cannot be read, and leaves nothing of it behind", async () => {
  const eventLogs = new FaultyEventLogs();
  await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }], runtime: { eventLogs } });
  await (await fixture.send("x")).all();
  eventLogs.isReadable = false;
  const reader = await fixture.subscribe("0");
  await expect(reader.ended).rejects.toThrow("bad row");
  // A subscription that is left would make this wait for its reader.
  await fixture.runtime.close();
});

it("lets a turn with a key go on for the resend when its log cannot be read", async () => {
  const eventLogs = new FaultyEventLogs();
  await using fixture = await RuntimeFixture.create({
    script: [{ text: ["a", "b"], hold: "go", hold_after_chunks: 1 }],
    runtime: { eventLogs },
  });
  const first = await fixture.send("x", { idempotencyKey: "k" });
  await first.find({ type: "stream_text" });
  first.leave();
  eventLogs.isReadable = false;
  // Its beginning is in the log only.
  await expect((await fixture.send("x", { idempotencyKey: "k" })).ended).rejects.toThrow("bad row");
  eventLogs.isReadable = true;
  fixture.models.release("go");
  const again = await fixture.send("x", { idempotencyKey: "k" });
  expect((await again.all()).at(-1)).toMatchObject({ type: "turn_complete", reason: "end_turn" });
});
