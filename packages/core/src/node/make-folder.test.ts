import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { makeFolder, makeFolderSync } from "./make-folder.ts";

const variants: readonly [string, (path: string, mode?: number) => Promise<void>][] = [
  ["makeFolder", makeFolder],
  ["makeFolderSync", async (path, mode) => makeFolderSync(path, mode)],
];

describe.each(variants)("%s", (_name, make) => {
  it("makes what is missing and leaves what is there", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "a", "b", "c");
    await make(path, 0o700);
    await make(path);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  it("refuses a place where a file is", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "file");
    await writeFile(path, "");
    await expect(make(path)).rejects.toMatchObject({ code: "ENOTDIR" });
    await expect(make(join(path, "below"))).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  it.runIf(process.platform === "linux")("fails at once where the system makes no entries", async () => {
    await expect(make("/proc/trivium/a")).rejects.toMatchObject({ code: "ENOENT" });
  });
});

it("makes one folder for callers that race", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "a", "b");
  await Promise.all(Array.from({ length: 20 }, () => makeFolder(path)));
  expect((await stat(path)).isDirectory()).toBe(true);
});
