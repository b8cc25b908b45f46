import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { expect, it } from "vitest";
import { until } from "../../testing/until.ts";
import { endTree } from "./end-tree.ts";
import { childrenOf, isRunning, nameOf, readProcessStat } from "./process-table.ts";
import { trySignal } from "./process-tree.ts";

it("asks what is wrapped to end, but not the wrapper, which would take it along", async () => {
  await using folder = await temporaryFolder();
  const wrapper = join(folder.path, "wrapper");
  await copyFile("/bin/bash", wrapper);
  // The wrapped command needs a moment after it was asked.
  const text = `bash -c "trap 'sleep 0.1; touch asked; exit' TERM; while :; do sleep 0.02; done"; exit 7`;
  const child = spawn(wrapper, ["-c", text], { cwd: folder.path, detached: true, stdio: "ignore" });
  const pid = child.pid ?? 0;
  const startTicks = readProcessStat(pid)?.startTicks ?? 0;
  const ended = once(child, "exit");
  await until(() => childrenOf(pid).some((inner) => childrenOf(inner).length > 0));
  expect(nameOf(pid)).toBe("wrapper");
  const tree = {
    members: () => [pid, ...childrenOf(pid)],
    isEmpty: () => !isRunning({ pid, startTicks }),
    killAll: () => void trySignal(-pid, "SIGKILL"),
  };
  const hurry = new AbortController().signal;
  await endTree(tree, { graceMs: 5000, groupId: pid, wrapper: "wrapper", hurry });
  expect(await ended).toEqual([7, null]);
});
