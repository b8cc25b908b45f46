/** Fails when the committed generated code is not what `buf generate` makes of the contracts. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./run.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const folder = mkdtempSync(join(tmpdir(), "trivium-gen-"));
try {
  await run("buf", ["generate", "-o", folder], { root, isQuiet: true });
  const committed = files(join(root, "packages/proto/src/gen"));
  const generated = files(join(folder, "packages/proto/src/gen"));
  const different = [...new Set([...committed.keys(), ...generated.keys()])].filter(
    (name) => committed.get(name) !== generated.get(name),
  );
  if (different.length > 0) {
    console.error(`generated code is stale: ${different.join(", ")}; pnpm gen mends it`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function files(directory) {
  const names = readdirSync(directory, { recursive: true }).filter((name) => name.endsWith(".ts"));
  return new Map(names.map((name) => [name, readFileSync(join(directory, name), "utf8")]));
}
