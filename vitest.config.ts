import { availableParallelism } from "node:os";
import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";

/** Packages resolve each other to their sources, so that no test needs a build. */
const source = "@trivium/source";
const node = ["node", "import", "module", "default"];
const browser = ["browser", "import", "module", "default"];

const nodeProject = {
  resolve: { conditions: [source, ...node] },
  ssr: { resolve: { conditions: [source, ...node], externalConditions: [source] } },
};

/** Processes that a test starts resolve to the sources too. */
const execArgv = [`--conditions=${source}`, "--disable-warning=ExperimentalWarning"];

export default defineConfig({
  test: {
    // Tests wait for processes more than they compute: none of the processors is kept for the runner itself.
    maxWorkers: availableParallelism(),
    projects: [
      {
        ...nodeProject,
        test: {
          name: "unit",
          environment: "node",
          execArgv,
          include: ["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.ts"],
          exclude: ["**/*.browser.test.ts", "packages/contract-tests/**", "**/node_modules/**", "**/dist/**"],
          testTimeout: 20_000,
          hookTimeout: 30_000,
        },
      },
      {
        ...nodeProject,
        test: {
          name: "contract",
          environment: "node",
          execArgv,
          include: ["packages/contract-tests/src/**/*.test.ts"],
          exclude: ["**/*.browser.test.ts", "**/node_modules/**"],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        resolve: { conditions: [source, ...browser] },
        test: {
          name: "browser",
          include: ["packages/*/src/**/*.browser.test.ts"],
          // The server under test lists http://localhost:63315 among the origins it allows.
          api: { port: 63_315, strictPort: true },
          globalSetup: ["packages/contract-tests/src/browser/server-setup.ts"],
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({
              launchOptions: {
                executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
                args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"],
              },
            }),
            instances: [{ browser: "chromium" }],
          },
        },
      },
    ],
  },
});
