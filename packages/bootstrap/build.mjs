import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.mjs";

/** Files beside the sources that a build depends on. */
const configuration = [
  "turbo.json",
  "tsup.config.ts",
  "tsconfig.base.json",
  "tsconfig.node.json",
  "tsconfig.web.json",
];

/**
 * Builds what is stale. A look at the times of the files comes first, so that an unchanged tree costs no build tool.
 *
 * @param {string} root
 */
export async function build(root) {
  const stamp = join(root, "node_modules", ".trivium-build");
  const wanted = digest(root);
  const isBuilt = existsSync(join(root, "apps/server/dist/main.js"));
  if (isBuilt && existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  console.log("building what is stale …");
  await run("turbo", ["run", "build", "--output-logs=errors-only"], { root, isQuiet: true });
  writeFileSync(stamp, wanted);
}

function digest(root) {
  const hash = createHash("sha256");
  const add = (path) => {
    const { mtimeMs, size } = statSync(path);
    hash.update(`${path.slice(root.length)} ${mtimeMs} ${size}\n`);
  };
  for (const file of configuration) add(join(root, file));
  for (const folder of ["packages", "apps"]) {
    for (const name of readdirSync(join(root, folder)).sort()) {
      const sources = join(root, folder, name, "src");
      if (!existsSync(sources)) continue;
      const files = readdirSync(sources, { recursive: true, encoding: "utf8" });
      for (const file of files.toSorted()) add(join(sources, file));
    }
  }
  return hash.digest("hex");
}
