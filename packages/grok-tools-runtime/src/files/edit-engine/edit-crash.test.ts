import { spawn } from "node:child_process";
import { once } from "node:events";
import { link, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { randomIds, systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { EditEngine } from "./edit-engine.ts";
import { PathLocks } from "./path-locks.ts";

const OLD = "old content\n".repeat(1000);
const NEW = "new content, and longer\n".repeat(1000);

/** A call of the file system at which the process dies, before or after it has had its effect. */
interface Death {
  readonly at: "before" | "after";
  readonly call: string;
}

const replacing: readonly Death[] = [
  { at: "after", call: "open" },
  { at: "after", call: "handle.writeFile" },
  { at: "after", call: "handle.chmod" },
  { at: "before", call: "handle.sync" },
  { at: "after", call: "handle.sync" },
  { at: "before", call: "rename" },
  { at: "after", call: "rename" },
];
const creating: readonly Death[] = [
  { at: "after", call: "open" },
  { at: "after", call: "handle.writeFile" },
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

  it.each<Death & { isDone: boolean }>([
    { at: "before", call: "handle.write", isDone: false },
    { at: "after", call: "handle.truncate", isDone: true },
    { at: "after", call: "handle.sync", isDone: true },
  ])("$at $call of a file with two names leaves the old or the new content under both", async (death) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "a.txt");
    await writeFile(path, OLD);
    await link(path, join(folder.path, "b.txt"));
    await editAndDie(path, death);
    for (const name of ["a.txt", "b.txt"]) {
      expect((await readFile(join(folder.path, name), "utf8")) === (death.isDone ? NEW : OLD)).toBe(true);
    }
    // Written in place: there was no other file.
    expect((await readdir(folder.path)).toSorted()).toEqual(["a.txt", "b.txt"]);
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
async function editAndDie(path: string, death: Death): Promise<void> {
  const child = spawn(
    process.execPath,
    [
      "--conditions=@trivium/source",
      "--disable-warning=ExperimentalWarning",
      "--input-type=module",
      "--eval",
      program(path, death),
    ],
    // Packages are found from here.
    { cwd: import.meta.dirname, stdio: ["ignore", "ignore", "pipe"] },
  );
  const complaints: Buffer[] = [];
  child.stderr.on("data", (chunk: Buffer) => complaints.push(chunk));
  const [exitCode, signal]: (number | string | null)[] = await once(child, "close");
  expect([exitCode, signal, Buffer.concat(complaints).toString()]).toEqual([null, "SIGKILL", ""]);
}

function program(path: string, { at, call }: Death): string {
  const url = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
  return `
    import fs from "node:fs/promises";
    import { syncBuiltinESMExports } from "node:module";
    const { EditEngine } = await import(${url("./edit-engine.ts")});
    const { PathLocks } = await import(${url("./path-locks.ts")});
    const { randomIds, systemClock } = await import("@trivium/core");
    // The engine's module has named imports: they follow once they are synchronised.
    const probe = await fs.open("/dev/null");
    const handle = Object.getPrototypeOf(probe);
    await probe.close();
    const [owner, name] = ${JSON.stringify(call)}.startsWith("handle.")
      ? [handle, ${JSON.stringify(call)}.slice(7)] : [fs, ${JSON.stringify(call)}];
    const original = owner[name];
    // Opening counts for the temporary file only.
    const counts = (first) => name !== "open" || String(first).includes(".trivium-");
    owner[name] = async function (...values) {
      if (counts(values[0]) && ${at === "before"}) process.kill(process.pid, "SIGKILL");
      const result = await original.apply(this, values);
      if (counts(values[0])) process.kill(process.pid, "SIGKILL");
      return result;
    };
    syncBuiltinESMExports();
    const engine = new EditEngine({ ids: randomIds, clock: systemClock, isDurable: true, locks: new PathLocks() });
    const bytes = Buffer.from(${JSON.stringify(NEW)});
    await engine.edit({
      path: ${JSON.stringify(path)}, roots: undefined,
      decide: () => ({ write: { bytes, spans: [] }, result: undefined }),
    });
  `;
}
