/** `npm test`: install, build, then format, contracts, types, lint, layers, unused code and every test. */
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";
import { findChromium } from "./chromium.mjs";
import { install } from "./install.mjs";
import { run } from "./run.mjs";
import { runVitest } from "./vitest.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const isCi = process.env.CI !== undefined && process.env.CI !== "" && process.env.CI !== "false";

/**
 * Each check with what a person does when it fails.
 *
 * @type {{ name: string, command: [string, ...string[]], remedy: string }[]}
 */
const checks = [
  { name: "format", command: ["biome", "check", "--error-on-warnings", "."], remedy: "pnpm format mends it" },
  { name: "contracts", command: ["buf", "lint"], remedy: "see proto/" },
  {
    name: "contract format",
    command: ["buf", "format", "--diff", "--exit-code"],
    remedy: "pnpm format mends it",
  },
  ...["grok-tools", "code-mode", "crabcode"].map((contract) => ({
    name: `compatibility of ${contract}`,
    command: ["buf", "breaking", "--against", `packages/proto/images/${contract}.binpb`],
    remedy: "the wire contract is fixed; see proto/ORIGINS.md",
  })),
  {
    name: "generated code",
    command: ["node", "packages/bootstrap/generated.mjs"],
    remedy: "pnpm gen mends it",
  },
  { name: "types", command: ["tsc", "-b"], remedy: "see the messages above" },
  { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"], remedy: "see the messages above" },
  { name: "layers", command: ["turbo", "boundaries"], remedy: "see turbo.json for what each tag may use" },
  { name: "packages", command: ["pnpm", "check:packages"], remedy: "see the messages above" },
  { name: "unused code", command: ["knip"], remedy: "remove what nothing uses" },
];

try {
  await install(root);
  await build(root);
  for (const {
    name,
    command: [program, ...parameters],
    remedy,
  } of checks) {
    console.log(`checking ${name} …`);
    await run(program, parameters, { root, isQuiet: true }).catch(() => {
      throw new Error(`the check of ${name} failed; ${remedy}`);
    });
  }
  await test();
} catch (error) {
  console.error(`npm test: ${error.message}`);
  process.exitCode = 1;
}

async function test() {
  const chromium = findChromium();
  if (chromium === undefined) {
    const remedy = "install it (Debian: apt-get install chromium) or set CHROMIUM_PATH";
    if (isCi) throw new Error(`the browser tests need Chromium; ${remedy}`);
    console.log(`SKIPPED: the browser tests, for want of Chromium; ${remedy}`);
  }
  const projects = ["unit", "contract", ...(chromium === undefined ? [] : ["browser"])];
  console.log(`testing: ${projects.join(", ")} …`);
  // The contract tests start what was just built, as a user would.
  const env = { TRIVIUM_TEST_BUILT: "1", ...(chromium !== undefined && { CHROMIUM_PATH: chromium }) };
  await runVitest({ root, projects, env });
}
