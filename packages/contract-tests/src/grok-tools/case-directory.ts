import { execFile } from "node:child_process";
import { lstat, mkdir, readdir, realpath, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Setup } from "./vector.ts";

const run = promisify(execFile);

/** Makes a directory for one case. Resolves with its path without symbolic links. */
export async function makeCaseDirectory(path: string): Promise<string> {
  await mkdir(path, { recursive: true });
  return await realpath(path);
}

/** Puts the files of a case into its directory. */
export async function fillCaseDirectory(cwd: string, setup: Setup): Promise<void> {
  const files = [
    ...entriesOf(setup.files),
    ...entriesOf(setup.files_base64).map(([path, text]) => [path, Buffer.from(text, "base64")] as const),
    ...entriesOf(setup.files_repeat).map(([path, { unit, count }]) => [path, unit.repeat(count)] as const),
  ];
  for (const [path, content] of files) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), content, { flag: "wx" });
  }
  for (const path of setup.dirs ?? []) await mkdir(join(cwd, path), { recursive: true });
  for (const [path, target] of entriesOf(setup.symlinks)) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await symlink(target, join(cwd, path));
  }
  if (setup.git_init === true) await run("git", ["init", "--quiet", cwd]);
  for (const [path, seconds] of entriesOf(setup.mtimes)) await utimes(join(cwd, path), seconds, seconds);
}

/** Temporary files of an edit that were left behind, as paths below the directory. */
export async function strayFilesIn(cwd: string): Promise<string[]> {
  const paths = await readdir(cwd, { recursive: true });
  return paths.filter((path) => /(^|\/)(\.trivium-[^/]*|[^/]*\.tmp)$/.test(path));
}

/** Whether something has this path; a link that leads nowhere counts. */
export async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

function entriesOf<Value>(record: Readonly<Record<string, Value>> | undefined): [string, Value][] {
  return Object.entries(record ?? {});
}
