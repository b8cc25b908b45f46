import { spawn } from "node:child_process";
import { once } from "node:events";
import { link, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { randomIds, silentLogger, systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { EditEngine } from "./edit-engine.ts";
import { PathLocks } from "./path-locks.ts";
import { recoverInterruptedWrites } from "./recover-writes.ts";
import { writeJournalFolder } from "./write-journal.ts";

const OLD = "old content\n".repeat(1000);
const NEW = "new content, and longer\n".repeat(1000);
const SHORT = "short\n".repeat(1000);

/** A call of the file system at which the process dies: before or after it has had its effect, or with half of it. */
interface Death {
  readonly at: "before" | "midway" | "after";
  readonly call: string;
  /** Which of its calls; default: the first. */
  readonly nth?: number;
  /** This write before fails with a full disk after three quarters of it. */
  readonly failsAt?: number;
}

const replacing: readonly Death[] = [
  { at: "after", call: "open" },
  { at: "after", call: "handle.write" },
  { at: "after", call: "handle.chmod" },
  { at: "before", call: "handle.sync" },
  { at: "after", call: "handle.sync" },
  { at: "before", call: "rename" },
  { at: "after", call: "rename" },
];
const creating: readonly Death[] = [
  { at: "after", call: "open" },
  { at: "after", call: "handle.write" },
  { at: "after", call: "handle.sync" },
  { at: "before", call: "link" },
  { at: "after", call: "link" },
  { at: "before", call: "unlink" },
];

describe("an edit whose process is killed", { timeout: 20_000 }, () => {
  it.each(replacing)("$at $call leaves the old or the new content", async (death) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "a.txt");
    await writeFile(path, OLD);
    await editAndDie(path, death);
    const isDone = death.at === "after" && death.call === "rename";
    expect((await readFile(path, "utf8")) === (isDone ? NEW : OLD)).toBe(true);
    await expectTidyAfterNextEdit(folder.path);
  });

  it.each(creating)("$at $call leaves no file or the whole new one", async (death) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "a.txt");
    await editAndDie(path, death);
    const content = await readFile(path, "utf8").catch(() => undefined);
    const isDone = death.call === "unlink" || (death.at === "after" && death.call === "link");
    expect(content === (isDone ? NEW : undefined)).toBe(true);
    await expectTidyAfterNextEdit(folder.path);
  });

  it.each<Death & { readonly growsTo?: string; readonly isDone: boolean }>([
    // The record: its head, the old and the new content.
    { at: "after", call: "open", nth: 2, isDone: false },
    { at: "midway", call: "handle.write", nth: 3, isDone: false },
    { at: "before", call: "rename", isDone: false },
    { at: "after", call: "rename", isDone: false },
    // The file: what it grows by, then the rest.
    { at: "before", call: "handle.write", nth: 4, isDone: false },
    { at: "midway", call: "handle.write", nth: 4, isDone: true },
    { at: "midway", call: "handle.write", nth: 5, isDone: true },
    { at: "after", call: "handle.truncate", isDone: true },
    { at: "before", call: "unlink", isDone: true },
    // A write that fails: the old content is put back.
    { at: "before", call: "handle.write", nth: 6, failsAt: 5, isDone: false },
    { at: "midway", call: "handle.write", nth: 6, failsAt: 5, isDone: false },
    // One that shrinks has nothing to grow by.
    { at: "midway", call: "handle.write", nth: 4, growsTo: SHORT, isDone: true },
    { at: "before", call: "handle.truncate", growsTo: SHORT, isDone: true },
    { at: "after", call: "handle.truncate", growsTo: SHORT, isDone: true },
  ])("$at $call of a file with two names: the next start leaves one content under both", async (death) => {
    await using folder = await temporaryFolder();
    await using data = await temporaryFolder();
    const path = join(folder.path, "a.txt");
    await writeFile(path, OLD);
    await link(path, join(folder.path, "b.txt"));
    const after = death.growsTo ?? NEW;
    await editAndDie(path, death, { dataDir: data.path, after });
    await recoverInterruptedWrites({ dataDir: data.path, logger: silentLogger });
    for (const name of ["a.txt", "b.txt"]) {
      expect((await readFile(join(folder.path, name), "utf8")) === (death.isDone ? after : OLD)).toBe(true);
    }
    // Nothing of ours was ever in the folder, and nothing stays with the server.
    expect((await readdir(folder.path)).toSorted()).toEqual(["a.txt", "b.txt"]);
    expect(await readdir(writeJournalFolder(data.path))).toEqual([]);
  });

  it.each<Death>([
    { at: "after", call: "open" },
    { at: "midway", call: "handle.write", nth: 1 },
    { at: "before", call: "unlink" },
  ])("$at $call of the start that ends it: so does the next one", async (death) => {
    await using folder = await temporaryFolder();
    await using data = await temporaryFolder();
    const path = join(folder.path, "a.txt");
    await writeFile(path, OLD);
    await link(path, join(folder.path, "b.txt"));
    await editAndDie(path, { at: "midway", call: "handle.write", nth: 5 }, { dataDir: data.path });
    expect([OLD, NEW]).not.toContain(await readFile(path, "utf8"));
    await recoverAndDie(data.path, death);
    await recoverInterruptedWrites({ dataDir: data.path, logger: silentLogger });
    expect((await readFile(path, "utf8")) === NEW).toBe(true);
    expect(await readdir(writeJournalFolder(data.path))).toEqual([]);
  });
});

/** The next server's first edit in the folder removes what the dead one left, once that is a minute old. */
async function expectTidyAfterNextEdit(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith(".trivium-")) await utimes(join(folder, name), new Date(0), new Date(0));
  }
  const engine = new EditEngine({
    ids: randomIds,
    clock: systemClock,
    isDurable: false,
    locks: new PathLocks(),
  });
  const write = { bytes: Buffer.from("x"), spans: [] };
  await engine.edit({
    path: join(folder, "next.txt"),
    roots: undefined,
    decide: () => ({ write, result: undefined }),
  });
  expect((await readdir(folder)).filter((name) => name.startsWith("."))).toEqual([]);
}

/** Edits in a process of its own, which is killed at that call of the file system. */
async function editAndDie(
  path: string,
  death: Death,
  { dataDir, after = NEW }: { readonly dataDir?: string; readonly after?: string } = {},
): Promise<void> {
  await runAndDie(
    death,
    `
    const { EditEngine } = await import(${url("./edit-engine.ts")});
    const { PathLocks } = await import(${url("./path-locks.ts")});
    const { WriteJournal } = await import(${url("./write-journal.ts")});
    const { randomIds: ids, systemClock: clock } = await import("@trivium/core");
    const dataDir = ${JSON.stringify(dataDir)};
    const journal = dataDir && new WriteJournal({ dataDir, ids });
    const engine = new EditEngine({ ids, clock, isDurable: true, locks: new PathLocks(), journal });
    const bytes = Buffer.from(${JSON.stringify(after)});
    arm();
    await engine.edit({
      path: ${JSON.stringify(path)}, roots: undefined,
      decide: () => ({ write: { bytes, spans: [] }, result: undefined }),
    });
  `,
  );
}

/** A start in a process of its own, which is killed at that call of the file system. */
async function recoverAndDie(dataDir: string, death: Death): Promise<void> {
  await runAndDie(
    death,
    `
    const { recoverInterruptedWrites } = await import(${url("./recover-writes.ts")});
    const { silentLogger: logger } = await import("@trivium/core");
    arm();
    await recoverInterruptedWrites({ dataDir: ${JSON.stringify(dataDir)}, logger });
  `,
  );
}

const url = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);

async function runAndDie(death: Death, program: string): Promise<void> {
  const flags = ["--conditions=@trivium/source", "--disable-warning=ExperimentalWarning"];
  const child = spawn(
    process.execPath,
    [...flags, "--input-type=module", "--eval", deadly(death) + program],
    // Packages are found from here.
    { cwd: import.meta.dirname, stdio: ["ignore", "ignore", "pipe"] },
  );
  const complaints: Buffer[] = [];
  child.stderr.on("data", (chunk: Buffer) => complaints.push(chunk));
  const [exitCode, signal]: (number | string | null)[] = await once(child, "close");
  expect([exitCode, signal, Buffer.concat(complaints).toString()]).toEqual([null, "SIGKILL", ""]);
}

/** Defines `arm`, after which the process dies at that call. */
function deadly({ at, call, nth = 1, failsAt = 0 }: Death): string {
  return `
    import fs from "node:fs/promises";
    import { syncBuiltinESMExports } from "node:module";
    const probe = await fs.open("/dev/null");
    const handle = Object.getPrototypeOf(probe);
    await probe.close();
    const [owner, name] = ${JSON.stringify(call)}.startsWith("handle.")
      ? [handle, ${JSON.stringify(call)}.slice(7)] : [fs, ${JSON.stringify(call)}];
    const original = owner[name];
    // Opening counts for files of ours and for what is opened to be written.
    const counts = ([first, flags]) => name !== "open" || String(first).includes(".trivium-") || flags === "wx" || (flags & 2) === 2;
    const die = () => process.kill(process.pid, "SIGKILL");
    let isArmed = false;
    let seen = 0;
    const arm = () => { isArmed = true; };
    owner[name] = async function (...values) {
      if (!isArmed || !counts(values)) return await original.apply(this, values);
      seen += 1;
      if (seen === ${failsAt}) {
        await original.call(this, values[0], values[1], Math.floor(values[2] * 0.75), values[3]);
        throw Object.assign(new Error("no space is left"), { code: "ENOSPC" });
      }
      if (seen < ${nth}) return await original.apply(this, values);
      if (${at === "before"}) die();
      if (${at === "midway"}) values[2] = Math.ceil(values[2] / 2);
      await original.apply(this, values);
      die();
    };
    // Modules have named imports: they follow once they are synchronised.
    syncBuiltinESMExports();
  `;
}
