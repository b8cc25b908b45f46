import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import type { CommandResult } from "../ports/toolbox-port.ts";
import { MemoryToolbox } from "../testing/memory-toolbox.ts";
import { bash } from "./bash.ts";
import { createChecklist } from "./checklist.ts";
import { edit, read, write } from "./file-tools.ts";
import { glob, grep } from "./search-tools.ts";
import type { Tool, ToolContext, ToolOutcome } from "./tool.ts";

class Bench {
  readonly toolbox = new MemoryToolbox();
  readonly events: object[] = [];

  async run(tool: Tool, input: Record<string, unknown>): Promise<ToolOutcome> {
    const prepared = tool.prepare(input, { mode: "agent" });
    if ("problem" in prepared) return { result: prepared.problem, isError: true };
    const cwd = "/w";
    const toolbox = await this.toolbox.open({ sessionId: "s", cwd, additionalDirectories: [] });
    const context: ToolContext = {
      toolbox,
      targetPath: undefined,
      clock: new ManualClock(),
      cwd,
      environment: {},
      toolUseId: "c1",
      agentId: null,
      operationId: "o1",
      isInteractive: true,
      signal: new AbortController().signal,
      emit: (event) => void this.events.push(event),
      askChoice: () => Promise.reject(new Error("nobody asks here")),
      questionTimeoutSeconds: 0,
      requestMode: () => false,
    };
    return prepared.run(context);
  }
}

describe("Read", () => {
  it.each([
    [{ file_path: "f" }, "     1|a\n     2|b"],
    [{ file_path: "f", offset: 2 }, "     2|b"],
    [{ file_path: "f", offset: "-1" }, "     2|b"],
    [{ target_file: "f", limit: 1 }, "     1|a"],
  ])("of %j gives numbered lines", async (input, result) => {
    const bench = new Bench();
    bench.toolbox.files.set("/w/f", "a  \nb\n");
    expect(await bench.run(read, input)).toMatchObject({ result, isError: false });
  });

  it("says how to go on when the file is longer than one reading", async () => {
    const bench = new Bench();
    bench.toolbox.files.set("/w/f", "x\n".repeat(2001));
    const { result } = await bench.run(read, { file_path: "f" });
    expect(result.endsWith("  2000|x\n[lines 1-2000 of 2001; continue with offset 2001]")).toBe(true);
  });

  it("names an empty and a missing file", async () => {
    const bench = new Bench();
    bench.toolbox.files.set("/w/f", "");
    expect(await bench.run(read, { file_path: "f" })).toEqual({
      result: "File is empty.",
      isError: false,
      data: { path: "/w/f", text: "", first_line: 1, total_lines: 0 },
    });
    expect((await bench.run(read, { file_path: "g" })).result).toBe("Error: file not found: g");
  });
});

describe("Write and Edit", () => {
  it("say what changed and show it", async () => {
    const bench = new Bench();
    expect((await bench.run(write, { file_path: "f", content: "a\nb" })).result).toBe(
      "Created /w/f (2 lines).",
    );
    const edited = await bench.run(edit, { path: "f", old_string: "b", new_string: "c" });
    expect(edited.result).toBe("Updated /w/f (line 1) [+1, -1]");
    expect(edited.display).toContain("-b\n\\ No newline at end of file\n+c");
    expect(bench.events).toMatchObject([
      { type: "file_change", path: "/w/f", action: "create" },
      { type: "file_change", path: "/w/f", action: "modify" },
    ]);
    expect((await bench.run(write, { file_path: "f", content: "z\n" })).result).toMatch(/^Updated \/w\/f/);
  });

  it.each([
    [{ old_string: "zz", new_string: "y" }, "Error: old_string not found in f: zz"],
    [
      { old_string: "a", new_string: "y" },
      "Error: old_string occurs 2 times in f; use replace_all or more context",
    ],
    [{ old_string: "", new_string: "y" }, "old_string: must not be empty"],
    [{ old_string: "a", new_string: "a" }, "old_string and new_string are the same"],
  ])("refuse %j", async (input, result) => {
    const bench = new Bench();
    bench.toolbox.files.set("/w/f", "a a");
    expect(await bench.run(edit, { file_path: "f", ...input })).toMatchObject({ result, isError: true });
  });
});

describe("Bash", () => {
  const cases: [Partial<CommandResult>, string, boolean][] = [
    [{ stdout: "a\n", stderr: "b\n", exitCode: 3 }, "a\nstderr:\nb\nExit code: 3", true],
    [{ stdout: "hi\n" }, "hi", false],
    [{}, "(no output)", false],
    [{ exitCode: null, signal: "SIGKILL", isTimedOut: true }, "timed out after 120 s", true],
    [{ exitCode: null, signal: "SIGTERM" }, "ended by signal SIGTERM", true],
  ];
  it.each(cases)("turns %j into one text", async (given, result, isError) => {
    const bench = new Bench();
    bench.toolbox.onCommand = () => Promise.resolve(given);
    expect(await bench.run(bash, { command: "x" })).toMatchObject({ result, isError });
  });

  it("never runs longer than ten minutes, and nothing blank", async () => {
    const bench = new Bench();
    let timeoutMs = 0;
    bench.toolbox.onCommand = (command) => {
      timeoutMs = command.timeoutMs;
      return Promise.resolve({});
    };
    await bench.run(bash, { command: "x", timeout: "9999" });
    expect(timeoutMs).toBe(600_000);
    expect((await bench.run(bash, { command: "  " })).isError).toBe(true);
  });
});

describe("Grep and Glob", () => {
  it("show paths inside the folder relative, others absolute", async () => {
    const bench = new Bench();
    bench.toolbox.files.set("/w/a", "x1\n").set("/other/b", "x2\n");
    expect((await bench.run(grep, { regex: "x" })).result).toBe("a:1:x1\n/other/b:1:x2");
    expect((await bench.run(glob, { pattern: "*" })).result).toBe("Found 2 files:\n/w/a\n/other/b");
  });

  it("name nothing found", async () => {
    const bench = new Bench();
    expect((await bench.run(grep, { pattern: "x" })).result).toBe("No matches found.");
    expect((await bench.run(glob, { pattern: "*" })).result).toBe("No files matched the pattern.");
  });

  it.each([
    [{ pattern: "*.ts" }, "."],
    [{ pattern: "*.ts", path: "src" }, "src"],
    [{ pattern: "/etc/*.conf" }, "/etc/"],
    [{ pattern: "../*/x", path: "src" }, "src/../"],
  ])("of %j look into %s for permission", (input, path) => {
    expect(glob.prepare(input, { mode: "agent" })).toMatchObject({ target: { path, isFolder: true } });
  });
});

describe("Checklist", () => {
  it("keeps what is done", async () => {
    const bench = new Bench();
    const checklist = createChecklist(() => "0000abcd");
    await bench.run(checklist, { action: "create", title: "T", items: ["a", "b"] });
    const checked = await bench.run(checklist, { action: "check", checklist_id: "0000abcd", item: "2" });
    expect(checked.result).toBe("T (0000abcd)\n1. [ ] a\n2. [x] b\n(1/2 completed)");
    const removed = await bench.run(checklist, {
      action: "update",
      checklist_id: "0000abcd",
      remove_items: [1],
      items: ["c"],
    });
    expect(removed.result).toContain("1. [x] b\n2. [ ] c");
    expect((await bench.run(checklist, { action: "check", checklist_id: "0000abcd" })).isError).toBe(true);
    expect((await bench.run(checklist, { action: "check", checklist_id: "nope", item: 1 })).isError).toBe(
      true,
    );
  });
});
