import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";

const bypass = { permissions: { run_everything: true } };

it("remembers for the next turn, and for the next conversation", async () => {
  await using fixture = await create([
    memory({ action: "create", title: "Build", content: "pnpm all" }),
    memory({ action: "create", title: "Name", content: "Ada", scope: "global" }),
    memory({ action: "list", scope: "global" }),
    { text: "noted" },
    { text: "yes" },
  ]);
  const turn = await (await fixture.send("remember")).all();
  const results = turn.filter(({ type }) => type === "tool_result").map(({ result }) => result);
  expect(results).toEqual([
    expect.stringMatching(/^Memory [0-9a-f]{12} created\.$/),
    expect.stringMatching(/^Memory [0-9a-f]{12} created\.$/),
    expect.stringMatching(/^[0-9a-f]{12} \[global\] Name: Ada$/),
  ]);
  await (await fixture.send("again")).all();
  const context = fixture.models.requests.at(-1)?.messages[0]?.content[0];
  expect(context).toMatchObject({
    text: expect.stringMatching(/# memories\n\[global\] Name: Ada\n\[project\] Build: pnpm all\n/),
  });
  const kept: unknown = JSON.parse(await readFile(join(fixture.cwd, ".crabcode", "memories.json"), "utf8"));
  expect(kept).toMatchObject([{ title: "Build", created_at: expect.stringMatching(/Z$/) }]);
});

it("changes and forgets what it is told to, and keeps what it does not know", async () => {
  await using fixture = await create([
    memory({ action: "update", memory_id: "aaaaaaaaaaaa", content: "new" }),
    memory({ action: "delete", memory_id: "bbbbbbbbbbbb" }),
    memory({ action: "delete", memory_id: "cccccccccccc" }),
    memory({ action: "update", memory_id: "aaaaaaaaaaaa" }),
    { text: "done" },
  ]);
  const path = join(fixture.cwd, ".crabcode", "memories.json");
  await mkdir(join(fixture.cwd, ".crabcode"));
  const kept = (id: string) => ({ id, title: id, content: "old", created_at: "then", more: 1 });
  await writeFile(path, JSON.stringify([kept("aaaaaaaaaaaa"), kept("bbbbbbbbbbbb")]));
  const turn = await (await fixture.send("x")).all();
  const results = turn.filter(({ type }) => type === "tool_result").map(({ result }) => result);
  expect(results).toEqual([
    "Memory aaaaaaaaaaaa updated.",
    "Memory bbbbbbbbbbbb deleted.",
    "Error: no memory cccccccccccc",
    "Validation error: update needs title or content",
  ]);
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual([
    { ...kept("aaaaaaaaaaaa"), content: "new", updated_at: expect.any(String) },
  ]);
});

it("takes no more than it can read again, and loses nothing that it cannot read", async () => {
  await using fixture = await create([
    memory({ action: "create", title: "t", content: "é".repeat(10_000) }),
    memory({ action: "delete", memory_id: "0" }),
    memory({ action: "create", title: "t", content: "é".repeat(10_000) }),
    memory({ action: "list" }),
    { text: "done" },
  ]);
  const path = join(fixture.cwd, ".crabcode", "memories.json");
  await mkdir(join(fixture.cwd, ".crabcode"));
  const large = Array.from({ length: 104 }, (_, id) => ({
    id: `${id}`,
    title: "",
    content: "x".repeat(10_000),
  }));
  await writeFile(path, JSON.stringify([{ title: "written by hand" }, ...large]));
  const turn = await (await fixture.send("x")).all();
  const results = turn.filter(({ type }) => type === "tool_result").map(({ result }) => result);
  expect(results).toEqual([
    "Error: the memories would have more than 1048576 bytes; delete some first",
    "Memory 0 deleted.",
    "Error: the memories would have more than 1048576 bytes; delete some first",
    expect.stringMatching(/^1 \[project\]/),
  ]);
  expect(JSON.parse(await readFile(path, "utf8"))).toContainEqual({ title: "written by hand" });
});

it("asks before it writes, not before it reads, and writes nothing outside the project", async () => {
  await using fixture = await create(
    [
      memory({ action: "list" }),
      memory({ action: "create", title: "t", content: "c" }),
      { text: "no" },
      memory({ action: "create", title: "t", content: "c" }),
      { text: "no" },
    ],
    {},
  );
  const turn = await fixture.send("x");
  await turn.find({ type: "permission_request", tool_name: "Memory" });
  expect(await turn.find({ type: "tool_result" })).toMatchObject({ result: "No project memories." });
  await fixture.runtime.respondPermission({ sessionId: "", toolUseId: "m2", isAllowed: false });
  await turn.all();
  const elsewhere = join(fixture.dataDir, "elsewhere");
  await mkdir(elsewhere);
  await symlink(elsewhere, join(fixture.cwd, ".crabcode"));
  const other = await fixture.send("y");
  await other.find({ type: "permission_request" });
  await fixture.runtime.respondPermission({ sessionId: "", toolUseId: "m4", isAllowed: true });
  expect(await other.find({ type: "tool_result" })).toMatchObject({
    is_error: true,
    result: expect.stringMatching(/leads out of the folder$/),
  });
  await expect(readFile(join(elsewhere, "memories.json"))).rejects.toThrow("ENOENT");
});

let count = 0;

function memory(input: Readonly<Record<string, unknown>>): ScriptEntry {
  count += 1;
  return { tool_calls: [{ id: `m${count}`, name: "Memory", input }] };
}

async function create(
  script: readonly ScriptEntry[],
  settings: Readonly<Record<string, unknown>> = bypass,
): Promise<RuntimeFixture> {
  const calls = script.map((entry, at): ScriptEntry => {
    const [call] = entry.tool_calls ?? [];
    return call === undefined ? entry : { tool_calls: [{ ...call, id: `m${at + 1}` }] };
  });
  const fixture = await RuntimeFixture.create({ script: calls, settings });
  await fixture.closeRuntime();
  fixture.runtime = fixture.start({
    settings: { base: settings, userFolder: join(fixture.dataDir, "user") },
  });
  return fixture;
}
