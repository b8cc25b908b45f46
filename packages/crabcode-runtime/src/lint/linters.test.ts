import { describe, expect, it } from "vitest";
import { LintBench } from "../testing/lint-bench.ts";

interface Row {
  readonly linter: string;
  /** A file it checks and what tells where it runs. */
  readonly files: Readonly<Record<string, string>>;
  readonly program?: string;
  readonly args: readonly string[];
  readonly stream?: "stderr";
  readonly issueExit: number;
  /** Two issues, and whatever else it prints. */
  readonly output: string;
  /** A code that says it gave up. */
  readonly brokenExit: number;
}

const rows: readonly Row[] = [
  {
    linter: "ruff",
    files: { "-a.py": "" },
    args: ["check", "--quiet", "--no-fix", "--no-cache", "--output-format=concise", "./-a.py"],
    issueExit: 1,
    output: "-a.py:1:8: F401 [*] `os` imported but unused\n-a.py:2:1: E701 two statements\n",
    brokenExit: 2,
  },
  {
    linter: "pylint",
    files: { "a.py": "" },
    args: expect.arrayContaining(["--persistent=n", "./a.py"]),
    issueExit: 20,
    output:
      "************* Module a\na.py:1:0: C0114: Missing module docstring (missing-module-docstring)\na.py:2:0: W0611: Unused import os (unused-import)\n",
    brokenExit: 32,
  },
  {
    linter: "mypy",
    files: { "a.py": "" },
    args: expect.arrayContaining(["--cache-dir=/dev/null", "./a.py"]),
    issueExit: 1,
    output: "a.py:1:5: error: Incompatible types\na.py:1:5: note: see there\na.py:3: error: No return\n",
    brokenExit: 2,
  },
  {
    linter: "eslint",
    files: { "a.js": "", "eslint.config.js": "" },
    args: ["--no-color", "--format=stylish", "./a.js"],
    issueExit: 1,
    output:
      "\n/w/a.js\n  1:5   error    'a' is never used  no-unused-vars\n  2:1   warning  Unexpected console  no-console\n\n✖ 2 problems (1 error, 1 warning)\n",
    brokenExit: 2,
  },
  {
    linter: "biome",
    files: { "a.ts": "" },
    args: ["lint", "--colors=off", "--reporter=github", "--max-diagnostics=none", "./a.ts"],
    issueExit: 1,
    output:
      "::error title=lint/a,file=a.ts,line=1::No.\n::warning title=lint/b,file=a.ts,line=2::Better not.\n",
    brokenExit: 2,
  },
  {
    linter: "tsc",
    files: { "a.ts": "", "tsconfig.json": "" },
    args: expect.arrayContaining(["--noEmit", "-p", "."]),
    issueExit: 2,
    output:
      "a.ts(1,5): error TS2322: Type 'string' is not assignable.\n  Further words.\nerror TS18003: No inputs.\n",
    brokenExit: 3,
  },
  {
    linter: "golangci-lint",
    files: { "a.go": "", "go.mod": "" },
    args: ["run", "--fix=false", "--color=never", "./..."],
    issueExit: 1,
    output: "a.go:3:2: unused (deadcode)\n\tx := 1\n\t^\nb/b.go:9: bad (lint)\n2 issues:\n",
    brokenExit: 3,
  },
  {
    linter: "clippy",
    files: { "src/a.rs": "", "Cargo.toml": "" },
    program: "cargo",
    args: ["clippy", "--quiet", "--color=never", "--message-format=short"],
    stream: "stderr",
    issueExit: 101,
    output:
      "src/a.rs:1:17: warning: unused variable: `x`\nsrc/a.rs:1:25: error[E0308]: mismatched types\nerror: could not compile `x`\n",
    brokenExit: 1,
  },
  {
    linter: "clang-tidy",
    files: { "a.c": "" },
    args: ["--quiet", "./a.c"],
    issueExit: 0,
    output:
      "/w/a.c:1:1: warning: bad [x]\n  int a\n  ^\n/w/a.c:1:1: note: here\n/w/a.c:2:1: error: worse [y]\n",
    brokenExit: 2,
  },
  {
    linter: "cppcheck",
    files: { "a.cpp": "" },
    args: expect.arrayContaining(["--quiet", "./a.cpp"]),
    stream: "stderr",
    issueExit: 0,
    output:
      "./a.cpp:1:1: style: Unused [x]\n./a.cpp:2:1: error: Null [y]\nnofile:0:0: information: No includes [z]\n",
    brokenExit: 1,
  },
  {
    linter: "checkstyle",
    files: { "A.java": "" },
    args: ["-c", "/sun_checks.xml", "./A.java"],
    issueExit: 2,
    output:
      "Starting audit...\n[ERROR] /w/A.java:1: Missing comment. [X]\n[WARN] /w/A.java:2:3: Long. [Y]\nAudit done.\n",
    brokenExit: 254,
  },
  {
    linter: "pmd",
    files: { "A.java": "" },
    args: expect.arrayContaining(["check", "--rulesets=rulesets/java/quickstart.xml", "./A.java"]),
    issueExit: 4,
    output: "./A.java:1:\tUnused:\tNot used\n./A.java:4:\tEmpty:\tIs empty\n",
    brokenExit: 1,
  },
];

describe.each(rows)("$linter", ({ linter, files, program = linter, args, stream = "stdout", ...row }) => {
  const call = { linter, paths: [Object.keys(files)[0] ?? ""] };

  it("is run on the file, and its issues are counted", async () => {
    await using bench = await LintBench.create(files);
    bench.programs.set(program, { exitCode: row.issueExit, [stream]: row.output });
    expect(await bench.lint(call)).toEqual({
      result: `[${linter}] 2 issue(s):\n${row.output.trim()}`,
      isError: false,
      data: { linters: [{ name: linter, status: "checked", issues: 2 }] },
    });
    const [run] = bench.runs;
    expect(run).toMatchObject({ environment: { FROM: "settings" }, timeoutMs: 60_000 });
    expect(run?.signal).toBe(bench.abort.signal);
    const [name, ...given] = run?.argv ?? [];
    expect(name).toBe(program);
    expect(given).toEqual(args);
  });

  it("finds nothing only when it says that it is content", async () => {
    await using bench = await LintBench.create(files);
    bench.programs.set(program, { [stream]: "fine\n" });
    expect(await bench.lint(call)).toMatchObject({ result: `[${linter}] No issues found.`, isError: false });
    bench.programs.set(program, { exitCode: row.issueExit + 1, stderr: "what?" });
    expect(await bench.lint(call)).toMatchObject({
      result: `[${linter}] Failed: exit code ${row.issueExit + 1}\nwhat?`,
      isError: true,
    });
  });

  it("says when it gave up in the middle", async () => {
    await using bench = await LintBench.create(files);
    bench.programs.set(program, { exitCode: row.brokenExit, [stream]: row.output });
    expect(await bench.lint(call)).toMatchObject({
      result: expect.stringContaining(
        `[${linter}] 2 issue(s) (it gave up with exit code ${row.brokenExit}):\n`,
      ),
    });
  });
});
