import { mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createCommandRunner, type ProcessRunner } from "../process/create-command-runner.ts";
import { matchesGlob, parseGlob } from "./glob.ts";
import { ripgrepVersion } from "./ripgrep-version.ts";
import { WorkspaceSearch } from "./workspace-search.ts";

let runner: ProcessRunner;
let dataFolder: Awaited<ReturnType<typeof temporaryFolder>>;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let search: WorkspaceSearch;
const { signal } = new AbortController();

beforeAll(async () => {
  dataFolder = await temporaryFolder();
  runner = await createCommandRunner({ dataFolder: dataFolder.path });
});

afterAll(async () => {
  await runner[Symbol.asyncDispose]();
  await dataFolder[Symbol.asyncDispose]();
});

beforeEach(async () => {
  folder = await temporaryFolder();
  search = searchWithin(undefined);
});

afterEach(() => folder[Symbol.asyncDispose]());

describe("WorkspaceSearch.search", () => {
  const usual = { ignoreCase: false, maxMatchesPerFile: 200, timeoutMs: 10_000, signal };

  it("finds lines by path, up to a number for each file", async () => {
    await put("b.txt", "k\nk\nk\n");
    await put("a/x.txt", "-\nK\n");
    const found = await search.search({ ...usual, pattern: "k", ignoreCase: true, maxMatchesPerFile: 2 });
    expect(found).toMatchObject({
      kind: "ok",
      isTruncated: false,
      matches: [
        { path: join(folder.path, "a/x.txt"), line: 2, text: "K" },
        { path: join(folder.path, "b.txt"), line: 1, text: "k" },
        { path: join(folder.path, "b.txt"), line: 2, text: "k" },
      ],
    });
  });

  it("tells what is wrong with a pattern or a path", async () => {
    expect(await search.search({ ...usual, pattern: "(" })).toMatchObject({
      kind: "failure",
      code: "invalid",
    });
    expect(await search.search({ ...usual, pattern: "a", path: "nope" })).toMatchObject({
      code: "not-found",
    });
  });

  it("keeps to its roots", async () => {
    await put("out.txt", "k\n");
    await mkdir(join(folder.path, "in"));
    await symlink("../out.txt", join(folder.path, "in/link"));
    search = searchWithin([join(folder.path, "in")]);
    expect(await search.search({ ...usual, pattern: "k", path: "in/link" })).toMatchObject({
      code: "denied",
    });
  });
});

describe("WorkspaceSearch.findFiles", () => {
  it("finds the newest first, hidden ones too, and tells how many more there are", async () => {
    await put("old.ts", "", 1);
    await put("a/new.ts", "", 3);
    await put(".hidden/middle.ts", "", 2);
    await put("a/new.js", "", 4);
    const found = await search.findFiles({ pattern: "**/*.ts", limit: 2, signal });
    expect(found).toEqual({
      kind: "ok",
      paths: [join(folder.path, "a/new.ts"), join(folder.path, ".hidden/middle.ts")],
      moreCount: 1,
    });
  });

  it("leaves ignored files out even when the pattern matches them, and big folders unless they are named", async () => {
    await mkdir(join(folder.path, ".git"));
    await put(".gitignore", "*.log\nbuild/\n");
    for (const path of ["a.log", "build/b.js", "node_modules/p/c.js", ".git/d.js", "src/e.js"])
      await put(path, "");
    const names = async (pattern: string): Promise<string[]> => {
      const found = await search.findFiles({ pattern, limit: 9, signal });
      return found.kind === "ok" ? found.paths.map((path) => path.slice(folder.path.length + 1)) : [];
    };
    expect(await names("**/*.{js,log}")).toEqual(["src/e.js"]);
    expect(await names("node_modules/**/*.js")).toEqual(["node_modules/p/c.js"]);
  });

  it("refuses a folder that is missing or is a file", async () => {
    await put("f", "");
    for (const path of ["nope", "f"]) {
      expect(await search.findFiles({ pattern: "*", path, limit: 1, signal })).toMatchObject({
        code: "not-found",
      });
    }
  });
});

describe("globs", () => {
  it.each([
    ["*.ts", "a.ts", true],
    ["*.ts", "a/a.ts", false],
    ["**/*.ts", "a.ts", true],
    ["src/**/*.{ts,tsx}", "src/a/b.tsx", true],
    ["{a,b{c,d}}/x", "bd/x", true],
    ["{a}/x", "{a}/x", true],
    ["./a/*", "a/b", true],
    ["a\\{b,c}", "a{b,c}", true],
  ])("%j and %j: %s", (glob, path, expected) => {
    expect(matchesGlob(parseGlob(glob), path)).toBe(expected);
  });

  it("bounds the choices of nested braces", () => {
    expect(parseGlob("{a,b}".repeat(30)).alternatives.length).toBeLessThanOrEqual(1000);
  });
});

describe("ripgrepVersion", () => {
  it("asks the program itself", async () => {
    expect(await ripgrepVersion(runner.programs, { signal })).toMatch(/^ripgrep \d+\./);
  });
});

function searchWithin(roots: readonly string[] | undefined): WorkspaceSearch {
  return new WorkspaceSearch({
    workingDirectory: folder.path,
    homeDirectory: undefined,
    roots,
    programRunner: runner.programs,
    clock: systemClock,
    environment: {},
  });
}

async function put(path: string, content: string, ageSeconds?: number): Promise<void> {
  const absolute = join(folder.path, path);
  await mkdir(dirname(absolute), { recursive: true });
  await writeFile(absolute, content);
  if (ageSeconds !== undefined) await utimes(absolute, ageSeconds, ageSeconds);
}
