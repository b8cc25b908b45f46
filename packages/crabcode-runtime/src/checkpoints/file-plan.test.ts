import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { expect, it } from "vitest";
import type { RunProgram } from "../ports/program-port.ts";
import { MemoryToolbox } from "../testing/memory-toolbox.ts";
import { runSpawned } from "../testing/spawned-programs.ts";
import { planFiles } from "./file-plan.ts";
import { Snapshots } from "./files/snapshots.ts";

it("does not lose the present files to another session that takes and frees its own meanwhile", async () => {
  await using folder = await temporaryFolder();
  const cwd = join(folder.path, "work");
  await mkdir(cwd);
  await writeFile(join(cwd, "a.txt"), "first");
  let freed: Promise<unknown> | undefined;
  let isPlanning = false;
  const run: RunProgram = async (request) => {
    const result = await runSpawned(request);
    if (isPlanning && request.argv.includes("write-tree")) {
      isPlanning = false;
      freed = snapshots.use(cwd, async (repository) => {
        await writeFile(join(cwd, "a.txt"), "third");
        await repository.take({});
        await repository.forget(["refs/sessions/other/one"]);
      });
    }
    return result;
  };
  const snapshots = new Snapshots({
    run,
    folder: join(folder.path, "snapshots"),
    dataFolder: join(folder.path, "data"),
    logger: silentLogger,
  });
  const session = { sessionId: "s", cwd };
  const toolbox = () => new MemoryToolbox().open({ ...session, additionalDirectories: [] });
  const owner = { ...session, toolbox };
  const taken = await snapshots.take(owner, { checkpointId: "one" });
  if (taken.kind === "none") throw new Error(taken.warning);
  await writeFile(join(cwd, "a.txt"), "second");
  isPlanning = true;
  const { snapshotId } = taken;
  const { signal } = new AbortController();
  const plan = await planFiles(owner, snapshots, { snapshotId, undoId: undefined, signal });
  expect(plan).toMatchObject({ written: ["a.txt"], warning: "" });
  await freed;
});
