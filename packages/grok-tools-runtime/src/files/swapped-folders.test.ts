import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { randomIds, systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { expect, it } from "vitest";
import { EditEngine } from "./edit-engine/edit-engine.ts";
import { PathLocks } from "./edit-engine/path-locks.ts";
import { openFile } from "./open-file.ts";

const ATTEMPTS = 400;

/** Puts a link to the outside in the place of a folder and the folder back, as fast as it can. */
const SWAP = `
  const { renameSync, rmSync, symlinkSync } = require("node:fs");
  const { workerData, parentPort } = require("node:worker_threads");
  const { folder, stop } = workerData;
  const [sub, aside] = [folder + "/in/sub", folder + "/in/aside"];
  // A write that makes missing folders may be quicker: then its folder is in the way.
  const insist = (step) => {
    for (;;) {
      try {
        return step();
      } catch {
        try {
          rmSync(sub, { recursive: true, force: true });
        } catch {}
      }
    }
  };
  let count = 0;
  while (Atomics.load(stop, 0) === 0) {
    renameSync(sub, aside);
    insist(() => symlinkSync("../out", sub));
    rmSync(sub);
    insist(() => renameSync(aside, sub));
    count += 1;
  }
  parentPort.postMessage(count);
`;

it("neither reads nor writes outside its roots while a folder is swapped for a link all the time", async () => {
  await using folder = await temporaryFolder();
  const roots = [join(folder.path, "in")];
  await mkdir(join(folder.path, "in/sub"), { recursive: true });
  await mkdir(join(folder.path, "out"));
  await writeFile(join(folder.path, "in/sub/a.txt"), "inside");
  await writeFile(join(folder.path, "out/a.txt"), "outside");
  const path = join(folder.path, "in/sub/a.txt");
  const engine = new EditEngine({
    ids: randomIds,
    clock: systemClock,
    isDurable: false,
    locks: new PathLocks(),
  });
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const swapper = new Worker(SWAP, { eval: true, workerData: { folder: folder.path, stop } });
  const swapped = new Promise<number>((resolve, reject) => {
    swapper.once("message", resolve);
    swapper.once("error", reject);
  });
  const outcomes = new Map<string, number>();
  const note = (outcome: string): void => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const text = await readInside(path, roots).catch(() => undefined);
    expect(text).not.toBe("outside");
    note(text === undefined ? "not read" : "read");
    const bytes = Buffer.from(`inside ${attempt}`);
    const write = (name: string) =>
      engine
        .edit({
          path: join(folder.path, "in/sub", name),
          roots,
          decide: () => ({ write: { bytes, spans: [] }, result: undefined }),
        })
        .then(
          () => note("written"),
          () => note("not written"),
        );
    await write("a.txt");
    await write(`new-${attempt}.txt`);
  }
  Atomics.store(stop, 0, 1);
  expect(await swapped).toBeGreaterThan(ATTEMPTS / 4);
  await swapper.terminate();
  expect(await readdir(join(folder.path, "out"))).toEqual(["a.txt"]);
  expect(await readFile(join(folder.path, "out/a.txt"), "utf8")).toBe("outside");
  // Both sides of the race were seen.
  expect([...outcomes.keys()].toSorted()).toEqual(["not read", "not written", "read", "written"]);
}, 30_000);

async function readInside(path: string, roots: readonly string[]): Promise<string> {
  await using file = await openFile(path, roots);
  return await file.handle.readFile("utf8");
}
