import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ManualClock, temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import type { ModelChunk, ModelPort, ModelRequest, ModelState } from "../../ports/model-port.ts";
import { createScriptModel } from "./script-model.ts";

describe("the script model", () => {
  it("plays thinking, text and calls in that order, with the usage of the entry", async () => {
    await using script = await openScript([
      {
        text: ["a", "b"],
        thinking: "t",
        tool_calls: [
          { id: "c1", name: "Read", input: { file_path: "x" } },
          { id: "", name: "Write", raw_input: "{broken" },
        ],
        usage: { input_tokens: 3, output_tokens: 4 },
      },
    ]);
    expect(await script.step()).toEqual([
      { type: "thinking", text: "t" },
      { type: "text", text: "a" },
      { type: "text", text: "b" },
      { type: "tool-start", id: "c1", name: "Read" },
      { type: "tool-delta", id: "c1", json: '{"file_path":"x"}' },
      { type: "tool-end", id: "c1", name: "Read", input: { file_path: "x" } },
      { type: "tool-start", id: "", name: "Write" },
      { type: "tool-delta", id: "", json: "{broken" },
      { type: "tool-end", id: "", name: "Write", rawInput: "{broken" },
      { type: "usage", usage: { inputTokens: 3, outputTokens: 4 } },
      { type: "finish", reason: "tool-calls" },
    ]);
  });

  it("keeps a place per agent with the session, and fails when a queue is empty", async () => {
    await using script = await openScript([{ text: "m1" }, { agent: 1, text: "a1" }, { text: "m2" }]);
    expect(text(await script.step())).toBe("m1");
    script.reopen();
    expect(text(await script.step(1))).toBe("a1");
    expect(text(await script.step())).toBe("m2");
    expect(await script.step()).toMatchObject([
      { kind: "config", message: expect.stringMatching(/^script exhausted/) },
    ]);
  });

  it("fails before or after the output of an entry, and goes on with the next one", async () => {
    await using script = await openScript([
      { text: "x", error: { status: 429, message: "slow down", before_output: true } },
      { text: "y", error: { status: 401, message: "bad key", before_output: false } },
      { text: "z" },
    ]);
    expect(await script.step()).toEqual([
      { type: "error", kind: "transient", status: 429, message: "slow down" },
    ]);
    expect(await script.step()).toEqual([
      { type: "text", text: "y" },
      { type: "error", kind: "auth", status: 401, message: "bad key" },
    ]);
    expect(text(await script.step())).toBe("z");
  });

  it("holds until the named file exists", async () => {
    await using script = await openScript([{ text: ["a", "b"], hold: "gate", hold_after_chunks: 1 }]);
    const stream = script.open();
    expect(await stream.next()).toMatchObject({ value: { text: "a" } });
    const next = stream.next();
    await script.clock.advance(100);
    expect(script.clock.pendingTimers).toBe(1);
    await writeFile(join(script.folder, "gate.go"), "");
    await script.clock.advance(20);
    expect(await next).toMatchObject({ value: { text: "b" } });
  });

  it("leaves a hold with the reason of an abort", async () => {
    await using script = await openScript([{ text: "a", hold: "never" }]);
    const controller = new AbortController();
    const next = script.open(null, controller.signal).next();
    const reason = new Error("stop");
    controller.abort(reason);
    await expect(next).rejects.toBe(reason);
    expect(script.clock.pendingTimers).toBe(0);
  });

  it("reads the file anew when it has changed", async () => {
    await using script = await openScript([{ text: "old" }]);
    await script.step();
    await writeFile(script.path, JSON.stringify([{ text: "old" }, { text: "new" }]));
    expect(text(await script.step())).toBe("new");
  });

  it.each(["{", '{"text":"x"}', '[{"hold":"../x"}]'])(
    "reports the file %s as a wrong configuration",
    async (content) => {
      await using script = await openScript([]);
      await writeFile(script.path, content);
      expect(await script.step()).toMatchObject([{ type: "error", kind: "config" }]);
    },
  );

  it("logs every request in order", async () => {
    await using script = await openScript([{ text: "a" }, { agent: 2, text: "b" }]);
    await script.step();
    await script.step(2);
    const lines = (await readFile(`${script.path}.log.jsonl`, "utf8")).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { n: 1, session_id: "s1", agent: null, profile: "p", model: "m", tools: ["Bash"], max_tokens: 5 },
      { n: 2, agent: 2 },
    ]);
  });
});

interface OpenScript extends AsyncDisposable {
  readonly folder: string;
  readonly path: string;
  readonly clock: ManualClock;
  reopen(): void;
  open(agentNumber?: number | null, signal?: AbortSignal): AsyncIterator<ModelChunk>;
  step(agentNumber?: number): Promise<ModelChunk[]>;
}

async function openScript(entries: readonly object[]): Promise<OpenScript> {
  const folder = await temporaryFolder();
  const path = join(folder.path, "script.json");
  await writeFile(path, JSON.stringify(entries));
  const values = new Map<string, string>();
  const state: ModelState = { read: (key) => values.get(key), write: (key, value) => values.set(key, value) };
  const clock = new ManualClock();
  const limits = { contextWindowTokens: 1, maxOutputTokens: 5, maxRetries: 0 };
  const create = (): ModelPort =>
    createScriptModel({ path, model: "m", isLogged: true, state, clock, ...limits });
  let model = create();
  const open = (
    agentNumber: number | null = null,
    signal = new AbortController().signal,
  ): AsyncIterator<ModelChunk> => {
    const request: ModelRequest = {
      loop: { sessionId: "s1", agentNumber, profile: "p" },
      system: [],
      messages: [],
      tools: [{ name: "Bash", description: "", inputSchema: {} }],
      maxOutputTokens: 5,
      signal,
    };
    return model.stream(request)[Symbol.asyncIterator]();
  };
  return {
    folder: folder.path,
    path,
    clock,
    open,
    reopen() {
      model = create();
    },
    async step(agentNumber) {
      const chunks: ModelChunk[] = [];
      const iterator = open(agentNumber ?? null);
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
        chunks.push(next.value);
      }
      return chunks;
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

function text(chunks: readonly ModelChunk[]): string {
  return chunks.map((chunk) => (chunk.type === "text" ? chunk.text : "")).join("");
}
