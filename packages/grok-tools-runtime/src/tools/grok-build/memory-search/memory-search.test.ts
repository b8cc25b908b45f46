import { mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ManualClock, temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { testRuntime } from "../../../testing/test-runtime.ts";
import { toolContext } from "../../../testing/tool-context.ts";
import type { ToolContext } from "../../../tool.ts";
import { defaultToolSettings } from "../../../tool-settings.ts";
import { memoryGet } from "../memory-get/memory-get.ts";
import { memorySearch } from "./memory-search.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let project: string;
let sessionFolder: string;
let globalDir: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  [project, sessionFolder, globalDir] = ["project", "session", "global"].map((name) =>
    join(folder.path, name),
  ) as [string, string, string];
  await mkdir(join(project, ".grok/memory"), { recursive: true });
  await mkdir(sessionFolder);
  await mkdir(globalDir);
});
afterEach(() => folder[Symbol.asyncDispose]());

const clock = new ManualClock(Date.now());

function context(overrides: Partial<ToolContext> = {}): ToolContext {
  const settings = { ...defaultToolSettings, memory: { enabled: true, globalDir } };
  return toolContext({ workingDirectory: project, sessionFolder, clock, settings, ...overrides });
}

async function search(input: object, overrides: Partial<ToolContext> = {}): Promise<string> {
  return (await memorySearch.run({ ...input }, context(overrides))).promptText;
}

describe("GrokBuild:memory_search", () => {
  it("finds notes of the project, the session and the user, best first", async () => {
    await writeFile(join(project, ".grok/memory/a.md"), "# Deploy\nuse the blue button, deploy deploy\n");
    await writeFile(join(sessionFolder, "b.md"), "a long note about many things, deploy among them\n");
    await writeFile(join(globalDir, "c.markdown"), "deploy\n");
    const text = await search({ query: "deploy" });
    expect(text).toMatch(/^Found 3 memory result\(s\):\n\n### Result 1 \(score: \d\.\d\d, source: /);
    for (const source of ["workspace", "session", "global"]) expect(text).toContain(`source: ${source})`);
    expect(text).toContain(`**File:** ${join(project, ".grok/memory/a.md")} (lines 1-3)`);
    expect(await search({ query: "deploy", max_results: 1 })).toContain("Found 1 memory result(s):");
  });

  it("leaves out the checkouts that subagents of the session work in", async () => {
    await mkdir(join(sessionFolder, "worktrees/child"), { recursive: true });
    await writeFile(join(sessionFolder, "worktrees/child/README.md"), "deploy\n");
    await writeFile(join(sessionFolder, "b.md"), "deploy\n");
    const text = await search({ query: "deploy" });
    expect(text).toContain("Found 1 memory result(s):");
    expect(text).toContain(join(sessionFolder, "b.md"));
  });

  it("sees a note that has changed, and no longer one that is gone", async () => {
    const shared = context();
    const path = join(project, ".grok/memory/a.md");
    await writeFile(path, "first\n");
    expect((await memorySearch.run({ query: "first" }, shared)).promptText).toContain("Found 1");
    await writeFile(path, "second thoughts\n");
    expect((await memorySearch.run({ query: "first" }, shared)).promptText).not.toContain("### Result");
    expect((await memorySearch.run({ query: "second" }, shared)).promptText).toContain("Found 1");
  });

  it("halves the score of a session's note in 30 days and says that it is old", async () => {
    const path = join(sessionFolder, "n.md");
    await writeFile(path, "apples\n");
    const scoreAfter = async (days: number): Promise<[number, string]> => {
      const then = new Date(clock.now() - days * DAY_MS);
      await utimes(path, then, then);
      const text = await search({ query: "apples" });
      return [Number(/score: ([\d.]+)/.exec(text)?.[1]), text];
    };
    const [fresh, plain] = await scoreAfter(0);
    const [, note] = await scoreAfter(2);
    const [old, warning] = await scoreAfter(30);
    expect(plain).not.toContain("old");
    expect(note).toContain("2 day(s) old.");
    expect(warning).toContain("30 day(s) old and may no longer be true");
    expect(old).toBeCloseTo(fresh / 2, 1);
  });

  it("never follows a link out of its folders", async () => {
    await writeFile(join(folder.path, "secret.md"), "password\n");
    await symlink(join(folder.path, "secret.md"), join(project, ".grok/memory/link.md"));
    expect(await search({ query: "password" })).not.toContain("### Result");
  });

  it("does not use a project's memory that is a link out of the allowed folders", async () => {
    await writeFile(join(globalDir, "x.md"), "outside\n");
    const other = join(folder.path, "other");
    await mkdir(join(other, ".grok"), { recursive: true });
    await symlink(globalDir, join(other, ".grok/memory"));
    const settings = defaultToolSettings;
    const jailed = { workingDirectory: other, sessionDirectory: other, workspaceRoots: [other], settings };
    expect(await search({ query: "outside" }, jailed)).not.toContain("### Result");
  });

  it("keeps a note from ending its fence", async () => {
    await writeFile(join(globalDir, "x.md"), "````\ncode\n````\n");
    expect(await search({ query: "code" })).toContain("`````\n````\ncode\n````\n`````");
  });

  it.each([
    [{}, ErrorCode.MISSING_REQUIRED_FIELD],
    [{ query: " " }, ErrorCode.INVALID_INPUT],
    [{ query: "x", max_results: 51 }, ErrorCode.INVALID_INPUT],
    [{ query: "x", max_results: 0 }, ErrorCode.INVALID_INPUT],
  ])("refuses %j", async (input, code) => {
    await expect(search(input)).rejects.toMatchObject({ code });
  });

  it("is not there when the server's memory is off", async () => {
    await using test = await testRuntime([memorySearch, memoryGet], {
      settings: { memory: { enabled: false, globalDir: undefined } },
    });
    const session = await test.runtime.openSession({ id: "s", tools: ["GrokBuild:memory_search"] });
    const { result } = await session.execute("memory_search", { nonsense: true });
    expect(result).toMatchObject({
      ok: false,
      error: { code: ErrorCode.NOT_IMPLEMENTED, details: { unavailable: "memory" } },
    });
  });
});

describe("GrokBuild:memory_get", () => {
  const get = async (input: object): Promise<string> =>
    (await memoryGet.run({ ...input }, context())).promptText;

  beforeEach(() => writeFile(join(globalDir, "g.md"), "one\ntwo\r\nthree\n"));

  it.each([
    [{}, "(from: start, limit: all)\n\n1→one\n2→two\n3→three\n4→", 4],
    [{ from: 0 }, "(from: 1, limit: all)\n\n1→one", 4],
    [{ from: 2, lines: 1 }, "(from: 2, limit: 1)\n\n2→two", 1],
    [{ from: 9 }, "(from: 9, limit: all)\n", 0],
  ])("shows lines with their numbers: %j", async (window, expected, count) => {
    const text = await get({ path: "g.md", ...window });
    expect(text).toContain(`**File:** ${join(globalDir, "g.md")}\n**Lines:** ${count} ${expected}`);
  });

  it("takes the path that the search printed", async () => {
    expect(await get({ path: join(globalDir, "g.md"), lines: 1 })).toContain("1→one");
  });

  it.each([
    ["../x", ErrorCode.PERMISSION_DENIED],
    ["/etc/passwd", ErrorCode.PERMISSION_DENIED],
    ["none.md", ErrorCode.FILE_NOT_FOUND],
    ["sub", ErrorCode.FILE_NOT_FOUND],
    ["link.md", ErrorCode.PERMISSION_DENIED],
    ["large.md", ErrorCode.INVALID_INPUT],
    [" ", ErrorCode.INVALID_INPUT],
  ])("refuses %s", async (path, code) => {
    await writeFile(join(folder.path, "secret.md"), "s");
    await symlink(join(folder.path, "secret.md"), join(globalDir, "link.md"));
    await mkdir(join(globalDir, "sub"));
    await writeFile(join(globalDir, "large.md"), "x".repeat(1024 * 1024 + 1));
    await expect(get({ path })).rejects.toMatchObject({ code });
  });
});
