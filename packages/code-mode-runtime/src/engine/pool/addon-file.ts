import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { TriviumError } from "@trivium/core";

/**
 * The prebuilt binary of isolated-vm for this Node and this machine.
 *
 * @throws {@link TriviumError} `unavailable` when the library brings none for this platform.
 */
export function isolatedVmAddonFile(): string {
  const folder = dirname(createRequire(import.meta.url).resolve("isolated-vm/package.json"));
  const { arch, platform, versions } = process;
  const libc = platform !== "linux" ? "" : isGlibc() ? ".glibc" : ".musl";
  const name = `isolated-vm.abi${versions.modules}${libc}.node`;
  const file = join(folder, "prebuilds", `${platform}-${arch}`, name);
  if (existsSync(file)) return file;
  throw new TriviumError(
    "unavailable",
    `there is no cell engine for ${platform}-${arch} with Node ABI ${versions.modules}; ` +
      "there is one for Node 24 and 26 on linux x64 and arm64, darwin arm64, win32 x64",
  );
}

function isGlibc(): boolean {
  const report: unknown = process.report.getReport();
  if (typeof report !== "object" || report === null || !("header" in report)) return true;
  const { header } = report;
  return typeof header === "object" && header !== null && "glibcVersionRuntime" in header;
}
