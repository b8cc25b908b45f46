import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.mjs";

/**
 * Installs the dependencies of the lockfile with the pinned pnpm, unless nothing changed since the last time.
 *
 * @param {string} root
 */
export async function install(root) {
  const stamp = join(root, "node_modules", ".trivium-install");
  const wanted = digest(root);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  const pnpm = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).packageManager;
  console.log(`installing the dependencies with ${pnpm} …`);
  await run("npx", ["--yes", pnpm, "install", "--frozen-lockfile"], { root });
  mkdirSync(join(root, "node_modules"), { recursive: true });
  writeFileSync(stamp, wanted);
}

/** Changes when an install could have another result. */
function digest(root) {
  const hash = createHash("sha256");
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json"]) {
    hash.update(readFileSync(join(root, file)));
  }
  for (const folder of ["packages", "apps"]) {
    for (const name of readdirSync(join(root, folder)).sort()) {
      const manifest = join(root, folder, name, "package.json");
      if (existsSync(manifest)) hash.update(manifest.slice(root.length)).update(readFileSync(manifest));
    }
  }
  return hash.digest("hex");
}
