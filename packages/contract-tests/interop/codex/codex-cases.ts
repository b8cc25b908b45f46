import { fileURLToPath } from "node:url";
import { fetchCodexPackage, installCodex } from "./codex-package.ts";
import { runScenario } from "./run-scenario.ts";
import { scenarios } from "./scenarios.ts";

/** What became of one case. */
export interface CodexResult {
  readonly title: string;
  readonly status: "passed" | "failed" | "skipped";
  /** Why, unless it passed. */
  readonly detail?: string;
}

const main = fileURLToPath(new URL("../../../../apps/server/src/main.ts", import.meta.url));
const node = `"${process.execPath}" --disable-warning=ExperimentalWarning --conditions=@trivium/source`;
const ownHost = `#!/bin/sh\nexec ${node} "${main}" code-mode-host "$@"\n`;

/** The CLI's pipes, carried to a server that runs already. */
function bridgeTo(port: number): string {
  return `#!${process.execPath}
const socket = require("node:net").connect(${port}, "127.0.0.1");
process.stdin.pipe(socket);
socket.pipe(process.stdout);
socket.on("close", () => process.exit(0));
socket.on("error", () => process.exit(1));
`;
}

/** The shipped Codex CLI as a client of ours, in each way it may meet us. */
export async function* runCodexCases(serverPort: number): AsyncGenerator<CodexResult> {
  const ways = [
    { way: "gRPC on its host's pipes", hostScript: ownHost, parameters: [] },
    {
      way: "the JSON protocol on its host's pipes",
      hostScript: ownHost,
      parameters: ["-c", "features.code_mode_host_grpc=false"],
    },
    { way: "the combined server", hostScript: bridgeTo(serverPort), parameters: [] },
  ];
  const fetched = await fetchCodexPackage();
  for (const { way, hostScript, parameters } of ways) {
    for (const scenario of scenarios) {
      const title = `the Codex CLI over ${way}: ${scenario.title}`;
      if ("reason" in fetched) {
        yield { title, status: "skipped", detail: fetched.reason };
        continue;
      }
      await using codex = await installCodex(fetched.folder, hostScript);
      const detail = await runScenario(scenario, codex.program, parameters);
      yield detail === undefined ? { title, status: "passed" } : { title, status: "failed", detail };
    }
  }
}
