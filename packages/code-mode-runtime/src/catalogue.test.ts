import { describe, expect, it } from "vitest";
import { createSessionHarness, tool } from "./testing/session-harness.ts";

const namesOf = (harness: ReturnType<typeof createSessionHarness>, revision: bigint, names: string[]) => {
  const { cell } = harness.start({ catalogRevision: revision, tools: names.map((name) => tool(name)) });
  return cell.program.tools.map(({ name }) => name);
};

describe("a catalogue revision", () => {
  it("that is stored stands for its tools", () => {
    const harness = createSessionHarness();
    expect(namesOf(harness, 1n, ["a"])).toEqual(["a"]);
    expect(namesOf(harness, 1n, [])).toEqual(["a"]);
    expect(namesOf(harness, 1n, ["a"])).toEqual(["a"]);
  });

  it("that is newer replaces the stored one", () => {
    const harness = createSessionHarness();
    namesOf(harness, 1n, ["a"]);
    namesOf(harness, 3n, ["c"]);
    expect(namesOf(harness, 3n, [])).toEqual(["c"]);
    expect(() => namesOf(harness, 1n, [])).toThrow(/catalog revision 1 is unknown/);
  });

  it("that is older is used once and not kept", () => {
    const harness = createSessionHarness();
    namesOf(harness, 5n, ["a"]);
    expect(namesOf(harness, 4n, ["b"])).toEqual(["b"]);
    expect(namesOf(harness, 5n, [])).toEqual(["a"]);
    expect(() => namesOf(harness, 4n, [])).toThrow(/unknown/);
  });

  it.each([
    ["is 0", 0n, ["a"], /invalid/],
    ["is unknown and comes without tools", 2n, [], /unknown/],
    ["is stored with other tools", 1n, ["b"], /conflicts/],
  ])("that %s is refused, and the execution id is spent", (...[, revision, names, message]) => {
    const harness = createSessionHarness();
    namesOf(harness, 1n, ["a"]);
    const tools = names.map((name) => tool(name));
    const execute = (catalogRevision: bigint | undefined) =>
      harness.start({ executionId: "once", catalogRevision, tools });
    expect(() => execute(revision)).toThrow(message);
    expect(() => execute(undefined)).toThrow(/execution_id once was already used/);
    expect(harness.start().execution.cellId).toBe("2");
  });
});
