import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TriviumError } from "@trivium/core";
import { describe, expect, it } from "vitest";
import type { ProgramRequest } from "../ports/program-port.ts";
import { LintBench } from "../testing/lint-bench.ts";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";
import { runSpawned } from "../testing/spawned-programs.ts";

const ruffIssue = { exitCode: 1, stdout: "a.py:1:8: F401 unused\n" };

describe("the choice of linters", () => {
  it("is the first that is installed where nothing is configured", async () => {
    await using bench = await LintBench.create({ "a.py": "", "pyproject.toml": "[project]\n" });
    bench.programs.set("mypy", {}).set("pylint", {});
    expect((await bench.lint({})).result).toBe("[pylint] No issues found.");
    expect(programsOf(bench)).toEqual(["ruff", "pylint"]);
  });

  it("is every one that is configured, of each language", async () => {
    await using bench = await LintBench.create({
      "a.py": "",
      "pyproject.toml": "[tool.mypy]\n",
      "setup.cfg": "[pylint]\n",
      "web/a.ts": "",
      "tsconfig.json": "",
      "biome.json": "",
    });
    for (const name of ["ruff", "pylint", "mypy", "tsc"]) bench.programs.set(name, {});
    expect((await bench.lint({})).result).toBe(
      [
        "[pylint] No issues found.",
        "[mypy] No issues found.",
        "[biome] Not installed.",
        "[tsc] No issues found.",
      ].join("\n"),
    );
  });

  it("falls back when what is configured is not installed, and says so", async () => {
    await using bench = await LintBench.create({ "a.py": "", "mypy.ini": "" });
    bench.programs.set("pylint", {});
    expect((await bench.lint({})).result).toBe("[mypy] Not installed.\n[pylint] No issues found.");
  });

  it("fails when none is installed, when none knows the files, and for a name that does not exist", async () => {
    await using bench = await LintBench.create({ "a.py": "", "b.txt": "" });
    expect(await bench.lint({ paths: ["a.py"] })).toMatchObject({
      result: "[ruff] Not installed.\n[pylint] Not installed.\n[mypy] Not installed.",
      isError: true,
    });
    expect(await bench.lint({ paths: ["b.txt"] })).toMatchObject({
      result: "Error: there is nothing that a linter checks",
      isError: true,
    });
    expect(await bench.lint({ paths: ["a.py"], linter: "cppcheck" })).toMatchObject({
      result: "Error: there is nothing that cppcheck checks",
    });
    expect((await bench.lint({ linter: "lint" })).result).toContain("ruff");
  });

  it("runs where the configuration is, and gives files to what takes no folders", async () => {
    await using bench = await LintBench.create({ "lib/.clang-tidy": "", "lib/src/-a.c": "", "b.c": "" });
    bench.programs.set("clang-tidy", {});
    bench.toolbox.files.delete(join(bench.cwd, "b.c"));
    await bench.lint({ paths: ["lib/src"] });
    expect(bench.runs).toMatchObject([
      { argv: ["clang-tidy", "--quiet", "./src/-a.c"], workingDirectory: join(bench.cwd, "lib") },
    ]);
  });

  it("does not take a list of projects for one, nor a linter without its configuration", async () => {
    await using bench = await LintBench.create({
      "a/a.ts": "",
      "b.ts": "",
      "tsconfig.json": '{"files": [ ], "references": [{"path": "a"}]}',
      "a/tsconfig.json": "{}",
    });
    bench.programs.set("tsc", {});
    expect(await bench.lint({ linter: "tsc" })).toMatchObject({
      result:
        "[tsc] Failed: no configuration (tsconfig.json) for these paths; name paths inside of one project",
      isError: true,
    });
    expect((await bench.lint({ linter: "eslint" })).result).toMatch(/^\[eslint\] Failed: no configuration/);
    expect((await bench.lint({ paths: ["a"] })).result).toBe("[tsc] No issues found.");
    expect(bench.runs).toMatchObject([{ workingDirectory: join(bench.cwd, "a") }]);
  });

  it("gives checkstyle and pmd the rules of the project", async () => {
    await using bench = await LintBench.create({
      "A.java": "",
      "config/checkstyle/checkstyle.xml": "",
      "pmd.xml": "",
    });
    bench.programs.set("checkstyle", {}).set("pmd", {});
    await bench.lint({});
    expect(bench.runs.map(({ argv }) => argv)).toEqual([
      ["checkstyle", "-c", join(bench.cwd, "config/checkstyle/checkstyle.xml"), "./"],
      expect.arrayContaining([`--rulesets=${join(bench.cwd, "pmd.xml")}`]),
    ]);
  });

  it("prefers what the project has installed for itself", async () => {
    await using bench = await LintBench.create({
      "packages/a/a.ts": "",
      "biome.json": "",
      "node_modules/.bin/biome": "",
      "venv/bin/ruff": "",
      "a.py": "",
    });
    const biome = join(bench.cwd, "node_modules/.bin/biome");
    const ruff = join(bench.cwd, "venv/bin/ruff");
    bench.programs.set(biome, {}).set(ruff, {});
    await bench.lint({ paths: ["packages/a", "a.py"] });
    expect(programsOf(bench)).toEqual([ruff, biome]);
  });
});

describe("a folder that is not trusted", () => {
  const files = {
    "a.ts": "",
    "eslint.config.js": "",
    "biome.json": "",
    "node_modules/.bin/biome": "",
    "a.rs": "",
    "Cargo.toml": "",
  };

  it("has nothing run that runs its code, unless it is named", async () => {
    await using bench = await LintBench.create(files);
    bench.isTrustedFolder = false;
    bench.programs.set("biome", {}).set("eslint", {}).set("cargo", {});
    const leftOut =
      "Left out: it runs code of this folder, which is not trusted. Name it in `linter` to have the user asked.";
    expect(await bench.lint({})).toMatchObject({
      result: `[eslint] ${leftOut}\n[biome] No issues found.\n[clippy] ${leftOut}`,
      data: { linters: [{ status: "left-out", issues: null }, { status: "checked" }, { name: "clippy" }] },
    });
    expect(bench.runs).toMatchObject([
      { argv: expect.arrayContaining(["biome", "lint"]), distrustedFolders: [bench.cwd] },
    ]);
    await bench.lint({ linter: "eslint" });
    expect(bench.runs[1]).toMatchObject({ argv: expect.arrayContaining(["eslint"]), distrustedFolders: [] });
  });

  it.each<[string, Record<string, unknown>, { isTrusted: boolean; isAsked: boolean }]>([
    ["asks for a named linter", { linter: "eslint" }, { isTrusted: false, isAsked: true }],
    ["does not ask for the others", {}, { isTrusted: false, isAsked: false }],
    ["does not ask when it is trusted", { linter: "eslint" }, { isTrusted: true, isAsked: false }],
    ["asks for what lies outside", { paths: ["../b.ts"] }, { isTrusted: true, isAsked: true }],
    [
      "asks when one of several lies outside",
      { paths: ["a.ts", "../b.ts"] },
      { isTrusted: true, isAsked: true },
    ],
  ])("%s", async (_, input, { isTrusted, isAsked }) => {
    await using fixture = await started([call(input), { text: "done" }], isTrusted);
    const bus = await fixture.subscribe();
    const turn = await fixture.send("lint");
    if (isAsked) {
      const { tool_use_id } = await bus.find({ type: "permission_request" });
      expect(fixture.runs).toEqual([]);
      await fixture.runtime.respondPermission({
        sessionId: "",
        toolUseId: String(tool_use_id),
        isAllowed: true,
      });
    }
    const events = await turn.all();
    expect(events.some(({ type }) => type === "permission_request")).toBe(isAsked);
    expect(events.find(({ type }) => type === "tool_result")).toMatchObject({ is_error: false });
  });
});

describe("what lies outside", () => {
  it("is never given to a linter that runs code, nor to programs that lie there", async () => {
    await using bench = await LintBench.create({
      "../other/a.js": "",
      "../other/node_modules/.bin/biome": "",
    });
    bench.programs.set("biome", {}).set("eslint", {});
    expect(await bench.lint({ paths: ["../other"], linter: "eslint" })).toMatchObject({
      result: expect.stringMatching(
        /^Error: eslint would run code of .*other, which is outside of this folder$/,
      ),
    });
    const other = join(bench.cwd, "../other");
    await bench.lint({ paths: ["../other/a.js"] });
    expect(bench.runs).toMatchObject([
      {
        argv: expect.arrayContaining(["biome", "lint"]),
        workingDirectory: other,
        distrustedFolders: [bench.cwd, other],
      },
    ]);
  });

  it("is not reached over a link among several paths, and must exist", async () => {
    await using bench = await LintBench.create({ "a.py": "" });
    bench.toolbox.links.set(join(bench.cwd, "link"), "/elsewhere");
    expect((await bench.lint({ paths: ["a.py", "link"] })).result).toBe(
      `Error: link leads out of ${bench.cwd}; check it with a call of its own`,
    );
    expect((await bench.lint({ paths: ["none.py"] })).result).toMatch(/^Error: none.py cannot be checked: /);
    expect(bench.runs).toEqual([]);
  });
});

describe("a run", () => {
  it("that takes too long or prints too much has failed, beside the others", async () => {
    await using bench = await LintBench.create({ "a.py": "", "ruff.toml": "", "mypy.ini": "" });
    bench.programs.set("ruff", ruffIssue);
    bench.programs.set("mypy", new TriviumError("unavailable", "mypy ran longer than 60000 ms"));
    expect(await bench.lint({})).toMatchObject({
      result: "[ruff] 1 issue(s):\na.py:1:8: F401 unused\n[mypy] Failed: mypy ran longer than 60000 ms",
      isError: false,
    });
    bench.programs.delete("ruff");
    expect((await bench.lint({})).isError).toBe(true);
  });

  it("is cut so that every linter keeps a share of the room", async () => {
    await using bench = await LintBench.create({ "a.py": "", "ruff.toml": "", "mypy.ini": "" });
    bench.programs.set("ruff", { exitCode: 1, stdout: "a.py:1:8: F401 unused\n".repeat(5000) });
    bench.programs.set("mypy", { exitCode: 1, stdout: "a.py:1:8: error: no\n".repeat(5000) });
    const { result } = await bench.lint({});
    expect(result.length).toBeLessThanOrEqual(50_000);
    expect(result.length).toBeGreaterThan(49_900);
    expect(result).toMatch(/^\[ruff\] 5000 issue\(s\):\n[^[]*\n\[output cut\]\n\[mypy\] 5000 issue\(s\):\n/);
  });

  it("ends with the call", async () => {
    await using bench = await LintBench.create({ "a.py": "" });
    bench.runProgram = () => {
      bench.abort.abort(new Error("interrupted"));
      return Promise.reject(new TriviumError("unavailable", "killed"));
    };
    await expect(bench.lint({})).rejects.toThrow("killed");
    expect(programsOf(bench)).toEqual(["ruff"]);
  });

  it("of a real compiler writes nothing", async () => {
    await using bench = await LintBench.create({
      "a.ts": 'export const a: number = "x";\n',
      "tsconfig.json":
        '{"compilerOptions":{"composite":true,"tsBuildInfoFile":"x","lib":["es5"],"types":[]}}',
    });
    bench.runProgram = (request) => runSpawned({ ...request, environment: { PATH: compilerPath } });
    const { result } = await bench.lint({ linter: "tsc" });
    expect(result).toContain("a.ts(1,14): error TS2322: ");
    expect((await readdir(bench.cwd)).sort()).toEqual(["a.ts", "tsconfig.json"]);
  });
});

const compilerPath = `${join(import.meta.dirname, "../../../../node_modules/.bin")}:${process.env["PATH"]}`;

function programsOf(bench: LintBench): string[] {
  return bench.runs.map(({ argv: [program] }) => program);
}

function call(input: Record<string, unknown>): ScriptEntry {
  return { tool_calls: [{ id: "c1", name: "Lint", input }] };
}

/** A runtime with biome and eslint, in a folder that has a file and uses eslint. */
async function started(
  script: readonly ScriptEntry[],
  isTrusted: boolean,
): Promise<RuntimeFixture & { readonly runs: ProgramRequest[] }> {
  const fixture = await RuntimeFixture.create({ script });
  await fixture.closeRuntime();
  for (const name of ["a.ts", "../b.ts", "eslint.config.js"]) {
    await writeFile(join(fixture.cwd, name), "");
    fixture.file(name, "");
  }
  const userFolder = join(fixture.dataDir, "user");
  await mkdir(userFolder);
  const trusted = isTrusted ? [fixture.cwd] : [];
  await writeFile(join(userFolder, "settings.json"), JSON.stringify({ trusted_directories: trusted }));
  const runs: ProgramRequest[] = [];
  fixture.runtime = fixture.start({
    settings: { base: {}, userFolder },
    runProgram: (request) => {
      // The state of the repository is asked for too.
      if (request.argv[0] === "git") return Promise.reject(new TriviumError("notFound", "no git"));
      runs.push(request);
      return Promise.resolve({ exitCode: 0, stdout: new Uint8Array(), stderr: "" });
    },
  });
  return Object.assign(fixture, { runs });
}
