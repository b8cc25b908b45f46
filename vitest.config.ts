import { defineConfig } from "vitest/config";

const resolve = { conditions: ["@trivium/source", "node", "import", "module", "default"] };
const node = {
  environment: "node" as const,
  // Servers, workers and supervisors that a test starts resolve the workspace to its sources too.
  execArgv: ["--conditions=@trivium/source"],
};

export default defineConfig({
  resolve,
  ssr: { resolve: { conditions: resolve.conditions, externalConditions: ["@trivium/source"] } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          ...node,
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.ts"],
          exclude: ["**/*.browser.test.ts", "packages/contract-tests/**", "**/node_modules/**", "**/dist/**"],
        },
      },
      {
        extends: true,
        test: {
          ...node,
          name: "contract",
          include: ["packages/contract-tests/src/**/*.test.ts"],
          exclude: ["**/*.browser.test.ts", "**/node_modules/**"],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
