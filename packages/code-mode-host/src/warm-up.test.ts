import { describe, expect, it } from "vitest";
import { createHostHarness } from "./testing/host-harness.ts";
import { warmUpCodeMode } from "./warm-up.ts";

describe("warmUpCodeMode", () => {
  it("runs a program and leaves nothing of it behind", async () => {
    const { engine, runtime } = createHostHarness();
    const programs: string[] = [];
    engine.onStart = (cell) => {
      programs.push(cell.program.source);
      cell.complete();
    };
    await warmUpCodeMode(runtime);
    expect(programs).toEqual(['text("")']);
    expect(runtime.stats()).toMatchObject({ sessions: 0, openCells: 0 });
    expect(engine.releasedSessions).toHaveLength(1);
  });

  it("ends quietly with a runtime that shuts down meanwhile, or has no worker", async () => {
    const { engine, runtime } = createHostHarness();
    engine.refusal = new Error("no worker");
    await warmUpCodeMode(runtime);
    engine.refusal = undefined;
    const warming = warmUpCodeMode(runtime);
    await runtime[Symbol.asyncDispose]();
    await warming;
    await warmUpCodeMode(runtime);
    expect(runtime.stats()).toMatchObject({ sessions: 0, openCells: 0 });
  });
});
