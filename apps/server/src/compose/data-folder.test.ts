import { stat } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { openDataFolder } from "./data-folder.ts";

describe("openDataFolder", () => {
  it("makes a folder that only its owner may look into", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "a", "b");
    using _data = openDataFolder(path);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  it("refuses a folder that is in use, and gives it once it is free", async () => {
    await using folder = await temporaryFolder();
    const first = openDataFolder(folder.path);
    expect(() => openDataFolder(folder.path)).toThrow(/another server uses the data folder/);
    first[Symbol.dispose]();
    using again = openDataFolder(folder.path);
    expect(again.path).toBe(folder.path);
  });

  it("names the folder that cannot be made", () => {
    expect(() => openDataFolder("/dev/null/x")).toThrow("the data folder /dev/null/x cannot be made");
    expect(() => openDataFolder("/proc/x")).toThrow("the data folder /proc/x cannot be made");
  });
});
