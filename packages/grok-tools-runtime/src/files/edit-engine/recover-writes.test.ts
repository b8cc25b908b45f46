import { lstat, readdir, readFile, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger } from "@trivium/core";
import { sequentialIds, temporaryFolder } from "@trivium/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { recoverInterruptedWrites } from "./recover-writes.ts";
import { WriteJournal, type WriteRecord, writeJournalFolder } from "./write-journal.ts";

const GROWING = { before: "aaaaaaaa", after: "bbbbbbbbcccc" };
const SHRINKING = { before: "aaaaaaaa", after: "bbbb" };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  path = join(folder.path, "a.txt");
});

afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

/** A write that was recorded, and what the file holds when the next server starts. */
async function interrupted(
  { before, after }: { readonly before: string; readonly after: string },
  now: string,
): Promise<WriteRecord> {
  const journal = new WriteJournal({ dataDir: folder.path, ids: sequentialIds() });
  const record = await journal.begin({ path, before: Buffer.from(before), after: Buffer.from(after) });
  await writeFile(path, now);
  return record;
}

/** What the next start says about it. */
async function start(): Promise<string[]> {
  const said: string[] = [];
  const note = (_fields: unknown, message: string): void => void said.push(message);
  const logger = { ...silentLogger, info: note, warn: note, error: note };
  await recoverInterruptedWrites({ dataDir: folder.path, logger });
  return said;
}

const records = (): Promise<string[]> => readdir(writeJournalFolder(folder.path));

describe("a start after a write in place was interrupted", () => {
  it.each([
    { now: "aaaaaaaacc", of: GROWING },
    { now: "aaaaaaaacccc", of: GROWING },
    { now: "bbbaaaaacccc", of: GROWING },
    { now: "bbbbbbbbcc", of: GROWING },
    { now: "bbaaaaaa", of: SHRINKING },
    { now: "bbbbaaaa", of: SHRINKING },
  ])("ends the write of a file with $now", async ({ now, of }) => {
    await interrupted(of, now);
    expect(await start()).toEqual(["a write that was interrupted has been ended"]);
    expect([await readFile(path, "utf8"), await records()]).toEqual([of.after, []]);
  });

  it.each([
    { now: "bbbaaaaacccc", of: GROWING },
    { now: "aaabbaaacccc", of: GROWING },
    { now: "aaaaaaaacc", of: GROWING },
    { now: "aabb", of: SHRINKING },
    { now: "aaaaaa", of: SHRINKING },
  ])("goes on putting the old content back over $now", async ({ now, of }) => {
    const record = await interrupted(of, now);
    await record.turnBack();
    await start();
    expect([await readFile(path, "utf8"), await records()]).toEqual([of.before, []]);
  });

  it.each(Object.values(GROWING))("says nothing about a file with %s as a whole", async (now) => {
    await interrupted(GROWING, now);
    expect(await start()).toEqual([]);
    expect([await readFile(path, "utf8"), await records()]).toEqual([now, []]);
  });

  it.each([
    { what: "other text", now: "hello", of: GROWING },
    { what: "the new text at the end only", now: "aaaabbbbcccc", of: GROWING },
    { what: "both contents in turn", now: "babababacccc", of: GROWING },
    { what: "more than both", now: "bbbaaaaaccccd", of: GROWING },
    { what: "nothing", now: "", of: GROWING },
    { what: "an end that somebody cut off", now: "bbaaa", of: SHRINKING },
  ])("leaves a file alone in which somebody has written $what", async ({ now, of }) => {
    await interrupted(of, now);
    expect(await start()).toEqual([expect.stringContaining("has been changed since and stays as it is")]);
    expect([await readFile(path, "utf8"), await records()]).toEqual([now, []]);
  });

  it("judges each block of a large file by itself, since the power may fail between any of them", async () => {
    const blocks = (letters: string): string =>
      letters
        .split("")
        .map((letter) => letter.repeat(4096))
        .join("");
    await interrupted({ before: blocks("aaa"), after: blocks("bbb") }, blocks("aba"));
    await start();
    expect((await readFile(path, "utf8")) === blocks("bbb")).toBe(true);
  });

  it("follows no link that has come in the place of the file, and makes none that is gone", async () => {
    await interrupted(GROWING, "bbbaaaaacccc");
    const target = join(folder.path, "target");
    await writeFile(target, "bbbaaaaacccc");
    await unlink(path);
    await symlink(target, path);
    expect(await start()).toEqual(["a file whose write was interrupted is not there any more"]);
    expect(await readFile(target, "utf8")).toBe("bbbaaaaacccc");
    await unlink(path);
    await interrupted(GROWING, "bbbaaaaacccc");
    await unlink(path);
    await start();
    await expect(lstat(path)).rejects.toMatchObject({ code: "ENOENT" });
    expect(await records()).toEqual([]);
  });

  it("removes records that are none, and keeps those it could not use", async () => {
    await interrupted(GROWING, "bbbaaaaacccc");
    await writeFile(join(writeJournalFolder(folder.path), "x.forward"), "{}\n");
    await writeFile(join(writeJournalFolder(folder.path), "y.part"), `{"path":"/`);
    await unlink(path);
    // Too long a name is an error that the next start may not have.
    const journal = new WriteJournal({ dataDir: folder.path, ids: sequentialIds() });
    const bytes = Buffer.from("a");
    await journal.begin({ path: `/${"n".repeat(300)}`, before: bytes, after: bytes });
    expect((await start()).toSorted()).toEqual([
      "a record of a write cannot be understood",
      "a write that was interrupted could not be ended",
    ]);
    expect(await records()).toHaveLength(1);
  });

  it("has nothing to do where nothing was ever written in place", async () => {
    expect(await start()).toEqual([]);
  });
});

describe("a record of a write in place", () => {
  it("comes before the write, which does not happen without", async () => {
    await writeFile(join(folder.path, "tools"), "in the way");
    const journal = new WriteJournal({ dataDir: folder.path, ids: sequentialIds() });
    const bytes = Buffer.from("a");
    await expect(journal.begin({ path, before: bytes, after: bytes })).rejects.toMatchObject({
      kind: "internal",
      message: expect.stringContaining("the data folder cannot take a record"),
    });
  });

  it("is gone once the file has one of its contents", async () => {
    const record = await interrupted(GROWING, GROWING.after);
    expect(await records()).toHaveLength(1);
    await record.end();
    expect(await records()).toEqual([]);
  });
});
