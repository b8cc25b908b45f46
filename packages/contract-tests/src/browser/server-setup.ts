import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startServerProcess } from "../server/server-process.ts";

declare module "vitest" {
  interface ProvidedContext {
    serverUrl: string;
  }
}

/** One server for all browser tests, which lets the page of the test runner in. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const origin = `http://localhost:${project.config.api.port}`;
  const server = await startServerProcess({ parameters: ["--set", `allowedOrigins=${origin}`] });
  await writeFile(join(server.workspace, "hello.txt"), "hello from the workspace\n");
  project.provide("serverUrl", server.url);
  return () => server[Symbol.asyncDispose]() as Promise<void>;
}
