import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Message } from "../conversation/message.ts";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";

/** A turn with a call, then one without; both ended. The lines: q1, call, result, a1, q2, a2. */
async function stored(): Promise<RuntimeFixture> {
  const fixture = await RuntimeFixture.create({
    script: [
      { tool_calls: [{ id: "c1", name: "Read", input: { file_path: "a.txt" } }] },
      { text: "a1" },
      { text: "a2" },
      { text: "a3" },
    ],
    isDurable: true,
  });
  fixture.file("a.txt", "content");
  await (await fixture.send("q1")).all();
  await (await fixture.send("q2")).all();
  await fixture.closeRuntime();
  return fixture;
}

async function editLines(fixture: RuntimeFixture, edit: (lines: string[]) => string[]): Promise<void> {
  const folder = join(fixture.dataDir, "crabcode", "transcripts");
  const [name = ""] = (await readdir(folder)).filter((one) => one.endsWith(".jsonl"));
  const lines = (await readFile(join(folder, name), "utf8")).trimEnd().split("\n");
  await writeFile(join(folder, name), edit(lines).join("\n"));
}

/** What the model is sent behind the user context. */
async function sentAfterRestart(fixture: RuntimeFixture): Promise<string[]> {
  fixture.runtime = fixture.start();
  const events = await (await fixture.send("q3")).all();
  expect(events.at(-1)).toMatchObject({ type: "turn_complete", reason: "end_turn" });
  return (fixture.models.requests.at(-1)?.messages ?? []).slice(1).map(drawn);
}

function drawn({ content }: Message): string {
  return content.map((block) => (block.type === "text" ? block.text : block.type)).join(" ");
}

describe("a transcript of which a line cannot be read", () => {
  it.each<[string, number, string[]]>([
    ["the calls", 1, ["q1", "a1", "q2", "a2", "q3"]],
    ["the results", 2, ["q1", "tool_use", "tool_result", "a1", "q2", "a2", "q3"]],
    ["an answer", 3, ["q1", "tool_use", "tool_result", "q2", "a2", "q3"]],
  ])("that had %s keeps all others, and no call is sent without its result", async (_, broken, sent) => {
    await using fixture = await stored();
    await editLines(fixture, (lines) =>
      lines.map((line, index) => (index === broken ? line.slice(0, line.length / 2) : line)),
    );
    expect(await sentAfterRestart(fixture)).toEqual(sent);
    const { messages } = await fixture.runtime.sessions.listMessages({ sessionId: "" });
    expect(messages).toHaveLength(7);
  });

  it("because it was being written loses nothing else, also not what comes after it", async () => {
    await using fixture = await stored();
    await editLines(fixture, (lines) => [...lines.slice(0, -1), lines.at(-1)?.slice(0, 40) ?? ""]);
    expect(await sentAfterRestart(fixture)).toEqual(["q1", "tool_use", "tool_result", "a1", "q2", "q3"]);
    await fixture.closeRuntime();
    fixture.models.entries.push({ text: "a4" });
    expect((await sentAfterRestart(fixture)).slice(-3)).toEqual(["q3", "a3", "q3"]);
  });
});
