import { join } from "node:path";
import { expect, it } from "vitest";
import { MemoryToolbox } from "../testing/memory-toolbox.ts";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";

const write = (id: string, path: string) => ({
  id,
  name: "Write",
  input: { file_path: path, content: "x" },
});

it("an interrupt ends a turn whose target cannot be resolved", async () => {
  await using fixture = await RuntimeFixture.create({
    script: [{ tool_calls: [{ id: "t1", name: "Read", input: { file_path: "a.txt" } }] }],
  });
  const asked = Promise.withResolvers<void>();
  fixture.toolbox.onResolve = () => {
    asked.resolve();
    return new Promise(() => {});
  };
  const reader = await fixture.send("x");
  await asked.promise;
  expect(await fixture.runtime.interruptTurn("")).toMatchObject({ isInterrupted: true });
  expect(await reader.find({ type: "tool_result" })).toMatchObject({ result: "Interrupted" });
  expect((await reader.all()).at(-1)).toMatchObject({ reason: "interrupted" });
});

it("a runtime closes although a toolbox is never opened, and disposes one that is opened too late", async () => {
  const opening = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const toolbox = new MemoryToolbox();
  await using fixture = await RuntimeFixture.create({
    script: [{ tool_calls: [{ id: "t1", name: "Read", input: { file_path: "a.txt" } }] }],
    runtime: {
      async openToolbox(session) {
        asked.resolve();
        await opening.promise;
        return toolbox.open(session);
      },
    },
  });
  const reader = await fixture.send("x");
  await asked.promise;
  await fixture.closeRuntime();
  expect((await reader.all()).at(-1)).toMatchObject({ reason: "interrupted" });
  opening.resolve();
  await expect.poll(() => toolbox.isDisposed).toBe(true);
});

it("a call does not follow a link that another call of its step made", async () => {
  const link = { id: "t1", name: "Bash", input: { command: "ln -s /outside link" } };
  await using fixture = await RuntimeFixture.create({
    script: [{ tool_calls: [link, write("t2", "link/a.txt")] }, { text: "done" }],
    settings: { permissions: { allow: [{ tool: "Bash" }, { tool: "Write" }] } },
  });
  fixture.toolbox.onCommand = async () => {
    fixture.toolbox.links.set(join(fixture.cwd, "link"), "/outside");
    return {};
  };
  const events = await (await fixture.send("x")).all();
  const result = events.find(({ type, tool_use_id }) => type === "tool_result" && tool_use_id === "t2");
  expect(result).toMatchObject({
    is_error: true,
    result: "Error: link/a.txt leads to another place than when this call was checked; call again",
  });
  expect([...fixture.toolbox.files.keys()]).toEqual([]);
});

it("a file tool opens the place that permission was given for, not the name", async () => {
  await using fixture = await RuntimeFixture.create({
    script: [{ tool_calls: [write("t1", "link/a.txt")] }, { text: "done" }],
    settings: { permissions: { allow: [{ tool: "Write" }] } },
  });
  const { toolbox, cwd } = fixture;
  toolbox.onResolve = async () => {
    // Too late for the checks, in time for the opening.
    toolbox.links.set(join(cwd, "link"), "/outside");
    return join(cwd, "real", "a.txt");
  };
  await (await fixture.send("x")).all();
  expect([...toolbox.files.keys()]).toEqual([join(cwd, "real", "a.txt")]);
});
