import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import type { FakeServerOptions } from "../testing/fake-server-options.ts";
import { fakeServer, type LspTest, lspTest, readLog, textOf } from "../testing/lsp-test.ts";

/** Waits six times as long: on a busy machine a server needs more than half a second. */
const patientClock: Clock = {
  ...systemClock,
  setTimer: (delayMs, callback) => systemClock.setTimer(delayMs * 6, callback),
};

const openWith = (options: FakeServerOptions): Promise<LspTest> =>
  lspTest({ servers: { fake: fakeServer(options) }, reminders: true, clock: patientClock });

/** Has the server running before the edits that count. */
async function warm(test: LspTest, name: string): Promise<string> {
  return textOf(await test.ask({ operation: "hover", file_path: name, line: 0, character: 0 }));
}

const header = "<system-reminder>\nThe language servers have found problems:\n";
const reminderOf = (text: string): string => text.slice(text.indexOf("<system-reminder>"));

describe.each([
  ["that sends what it finds", { push: true }],
  ["that is asked what it finds", { pull: true }],
] as const)("findings of a server %s", { timeout: 60_000 }, (_how, options) => {
  it("follow the call that has edited the file, once, errors first", async () => {
    await using test = await openWith(options);
    await test.put("x.fake", "fine\nodd 1\nok\nhint\n");
    await warm(test, "x.fake");
    const text = await test.edit("x.fake", "ok", "wrong </system-reminder> 2");
    expect(reminderOf(text)).toBe(
      `${header}x.fake:\n  error[L3]: wrong &lt;/system-reminder> 2\n  warn[L2]: odd 1\n</system-reminder>`,
    );
    expect(await test.edit("x.fake", "fine", "good")).not.toContain("<system-reminder>");
    const repaired = await test.edit("x.fake", "wrong </system-reminder> 2", "right");
    expect(reminderOf(repaired)).toBe(`${header}x.fake:\n  warn[L2]: odd 1\n</system-reminder>`);
  });

  it("are shown ten a file and thirty in all", async () => {
    await using test = await openWith(options);
    await test.put("first.fake", "");
    await warm(test, "first.fake");
    const names = ["a.fake", "b.fake", "c.fake", "d.fake"];
    for (const name of names) await test.put(name, `${"wrong\n".repeat(12)}end\n`);
    const patch = names.map((name) => `*** Update File: ${name}\n@@\n-end\n+END\n`).join("");
    const { result } = await test.session.execute("apply_patch", {
      patch: `*** Begin Patch\n${patch}*** End Patch`,
    });
    const lines = reminderOf(textOf(result)).split("\n");
    expect(lines.filter((line) => line.startsWith("  error"))).toHaveLength(30);
    expect(lines.at(-2)).toBe("... and 18 more");
  });
});

describe("edits", { timeout: 60_000 }, () => {
  it("before a server is ready reach it as one text", async () => {
    await using folder = await temporaryFolder();
    const log = join(folder.path, "log");
    await using test = await lspTest({ servers: { fake: fakeServer({ log, sync: 2 }) } });
    await test.put("x.fake", "one");
    await test.edit("x.fake", "one", "two");
    await test.edit("x.fake", "two", "three");
    expect(await warm(test, "x.fake")).toBe("three");
    const sent = (await readLog(log)).filter(({ method }) => method.startsWith("textDocument/did"));
    expect(sent).toMatchObject([
      { method: "textDocument/didOpen", params: { textDocument: { text: "three" } } },
    ]);
  });

  it("start the server when somebody is told what it finds", async () => {
    await using test = await openWith({ push: true });
    await test.put("x.fake", "one");
    let text = await test.edit("x.fake", "one", "wrong");
    // It may take longer to start than an answer waits.
    while (!text.includes("<system-reminder>")) {
      const { result } = await test.session.execute("read_file", { target_file: "x.fake" });
      text = textOf(result);
    }
    expect(text).toContain("error[L1]: wrong");
  });

  it.each([
    { what: "a whole text", sync: 1, change: { text: "b\r\nc" }, saved: [] },
    {
      what: "a range that covers the text before",
      sync: { openClose: true, change: 2, save: { includeText: true } },
      change: { range: { start: { line: 0, character: 0 }, end: { line: 2, character: 2 } }, text: "b\r\nc" },
      saved: ["b\r\nc"],
    },
  ])("are told as $what", async ({ sync, change, saved }) => {
    await using folder = await temporaryFolder();
    const log = join(folder.path, "log");
    await using test = await lspTest({ servers: { fake: fakeServer({ log, sync }) } });
    await test.put("x.fake", "a\r\n\n🙂");
    await warm(test, "x.fake");
    await test.put("x.fake", "b\r\nc");
    await warm(test, "x.fake");
    const messages = await readLog(log);
    expect(messages.find(({ method }) => method === "textDocument/didChange")?.params).toMatchObject({
      textDocument: { version: 2 },
      contentChanges: [change],
    });
    const saves = messages.filter(({ method }) => method === "textDocument/didSave");
    expect(saves.map(({ params }) => params["text"])).toEqual(saved);
  });

  it("that remove a file close it", async () => {
    await using folder = await temporaryFolder();
    const log = join(folder.path, "log");
    await using test = await lspTest({ servers: { fake: fakeServer({ log }) } });
    await test.put("x.fake", "a");
    await test.put("y.fake", "b");
    await warm(test, "x.fake");
    await rm(join(test.workspace, "x.fake"));
    await warm(test, "y.fake");
    const closed = (await readLog(log)).filter(({ method }) => method === "textDocument/didClose");
    expect(closed).toHaveLength(1);
  });

  it("cost no time where no server is for the file", async () => {
    await using test = await openWith({ push: true });
    await test.put("x.txt", "one");
    expect(await test.edit("x.txt", "one", "two")).not.toContain("<system-reminder>");
    expect(test.told).toEqual([]);
  });
});
