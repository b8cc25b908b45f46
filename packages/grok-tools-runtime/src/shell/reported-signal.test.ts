import { open, stat } from "node:fs/promises";
import { temporaryFolder } from "@trivium/core/testing";
import { expect, it } from "vitest";
import type { CommandEnd } from "../process/command-runner.ts";
import { withReport } from "./reported-signal.ts";

it("looks at the end of a report only: the command it is about can write there, as much as it likes", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/report`;
  {
    await using file = await open(path, "w");
    // Nothing is stored for the gap.
    await file.write("\n[1]+  4711 Killed                  sleep 9\n", 3 * 1024 ** 3);
  }
  const end = { reason: "exited", exitCode: 137, signal: null } as CommandEnd;
  expect(await withReport(end, path)).toEqual({ ...end, exitCode: null, signal: "SIGKILL" });
  await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
});
