import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { silentLogger } from "@trivium/core";
import { ManualClock, temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { sessionFolder } from "./session-folder.ts";
import { StateFile } from "./state-file.ts";

const name = "resources_state.json";

async function stateFile() {
  const folder = await temporaryFolder();
  const clock = new ManualClock();
  const path = `${folder.path}/${name}`;
  return {
    clock,
    path,
    folder: folder.path,
    file: new StateFile(folder.path, { clock, logger: silentLogger }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe("StateFile", () => {
  it("loads what was saved, from a file that only its user can read", async () => {
    await using test = await stateFile();
    test.file.schedule(() => ({ params: { a: 1 }, state: {} }));
    await test.file.flush();
    expect((await test.file.load()).document).toEqual({ params: { a: 1 }, state: {} });
    expect((await stat(test.path)).mode & 0o777).toBe(0o600);
    expect(await readdir(test.folder)).toEqual([name]);
  });

  it("writes at most every 500 ms, and the latest state", async () => {
    await using test = await stateFile();
    let value = 0;
    const written: number[] = [];
    const schedule = () =>
      test.file.schedule(() => {
        written.push(value);
        return { params: {}, state: { value } };
      });
    schedule();
    await test.clock.advance(0);
    for (value = 1; value < 4; value++) schedule();
    await test.clock.advance(499);
    expect(test.clock.pendingTimers).toBe(1);
    expect(written).toEqual([0]);
    await test.clock.advance(1);
    await test.file.flush();
    expect(written).toEqual([0, 4]);
    expect(JSON.parse(await readFile(test.path, "utf8"))).toEqual({ params: {}, state: { value: 4 } });
    expect(test.clock.pendingTimers).toBe(0);
  });

  it("ignores what comes after it was closed", async () => {
    await using test = await stateFile();
    await test.file.close(() => ({ params: {}, state: { last: true } }));
    test.file.schedule(() => ({ params: {}, state: {} }));
    await test.file.flush();
    expect((await test.file.load()).document.state).toEqual({ last: true });
    expect(test.clock.pendingTimers).toBe(0);
  });

  it("is empty without a file", async () => {
    await using test = await stateFile();
    expect(await test.file.load()).toEqual({ document: { params: {}, state: {} }, isCorrupt: false });
  });

  it("refuses to go on without a file that is there but cannot be read", async () => {
    await using test = await stateFile();
    await mkdir(test.path);
    await expect(test.file.load()).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("EISDIR"),
    });
  });

  it.each(["{", "[]", '{"state":1}'])("sets %j aside and says so", async (text) => {
    await using test = await stateFile();
    await writeFile(test.path, text);
    expect(await test.file.load()).toEqual({ document: { params: {}, state: {} }, isCorrupt: true });
    const [aside] = await readdir(test.folder);
    expect(aside).toBe(`${name}.corrupt-${Date.UTC(2026, 0, 1) / 1000}`);
    expect(await readFile(`${test.folder}/${aside}`, "utf8")).toBe(text);
  });

  it("removes nothing that is in its way, and tells the log", async () => {
    await using test = await stateFile();
    await mkdir(test.path);
    const said: string[] = [];
    const logger = { ...silentLogger, error: (_fields: object, message: string) => void said.push(message) };
    const file = new StateFile(test.folder, { clock: test.clock, logger });
    file.schedule(() => ({}));
    await file.flush();
    expect(said).toEqual(["the session state cannot be saved"]);
    expect((await stat(test.path)).isDirectory()).toBe(true);
  });
});

describe("sessionFolder", () => {
  it.each([
    ["plain-1.x", "plain-1.x"],
    ["a/b", "h-c14cddc033f64b9dea80ea675cf280a0"],
    [".hidden", expect.stringMatching(/^h-[0-9a-f]{32}$/)],
    ["x".repeat(65), expect.stringMatching(/^h-/)],
  ])("of %j is %s", (key, expected) => {
    expect(sessionFolder("/d", key).replace("/d/tools/sessions/", "")).toEqual(expected);
  });
});
