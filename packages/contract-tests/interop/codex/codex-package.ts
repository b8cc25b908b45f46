import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, link, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

const specifier = "@openai/codex@0.171.0-linux-x64";
const cache = join(tmpdir(), "trivium-interop-codex-0.171.0");
const vendor = "package/vendor/x86_64-unknown-linux-musl";

/** The unpacked package of the Codex CLI, or why there is none. npm fetches it once, into the temporary folder. */
export async function fetchCodexPackage(): Promise<
  { readonly folder: string } | { readonly reason: string }
> {
  if (process.platform !== "linux" || process.arch !== "x64") {
    return { reason: `${specifier} does not run on ${process.platform}-${process.arch}` };
  }
  const folder = join(cache, vendor);
  if (existsSync(folder)) return { folder };
  const fresh = await mkdtemp(join(tmpdir(), "trivium-interop-fetch-"));
  try {
    await execute("npm", ["pack", specifier, "--silent"], { cwd: fresh, timeout: 300_000 });
    const [archive = ""] = (await readdir(fresh)).filter((name) => name.endsWith(".tgz"));
    await execute("tar", ["xzf", archive], { cwd: fresh });
    await rm(join(fresh, archive));
    await rename(fresh, cache);
    return { folder };
  } catch (thrown) {
    await rm(fresh, { recursive: true, force: true });
    return { reason: `npm cannot fetch ${specifier}: ${String(thrown).split("\n")[0]}` };
  }
}

/** A Codex CLI whose code-mode host is a program of ours. Disposing it removes it. */
export interface CodexInstallation extends AsyncDisposable {
  readonly program: string;
}

/** @param hostScript the program that stands in for the CLI's own code-mode host, `#!` line included */
export async function installCodex(folder: string, hostScript: string): Promise<CodexInstallation> {
  const root = await mkdtemp(join(cache, "installation-"));
  await mkdir(join(root, "bin"));
  // The CLI looks for its host beside itself, and would follow a symbolic link to its origin.
  await link(join(folder, "bin/codex"), join(root, "bin/codex"));
  await copyFile(join(folder, "codex-package.json"), join(root, "codex-package.json"));
  for (const name of ["codex-path", "codex-resources"]) await symlink(join(folder, name), join(root, name));
  await writeFile(join(root, "bin/codex-code-mode-host"), hostScript, { mode: 0o755 });
  return {
    program: join(root, "bin/codex"),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}
