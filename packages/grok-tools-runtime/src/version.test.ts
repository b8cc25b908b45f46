import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { PACKAGE_VERSION } from "./version.ts";

it("PACKAGE_VERSION is the version of the package", async () => {
  const manifest: unknown = JSON.parse(await readFile(`${import.meta.dirname}/../package.json`, "utf8"));
  expect(manifest).toMatchObject({ version: PACKAGE_VERSION });
});
