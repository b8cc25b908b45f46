import { writeFileSync } from "node:fs";
import { openToolSession, type ToolSession } from "@trivium/grok-tools-client";
import { createNodeTransport, type NodeTransport } from "@trivium/rpc/node";
import {
  type ServerProcess,
  type ServerProcessOptions,
  startServerProcess,
} from "../../src/server/server-process.ts";

/** The shell tool and those it needs beside it. */
export const shellTools: readonly string[] = [
  "GrokBuild:run_terminal_cmd",
  "GrokBuild:get_task_output",
  "GrokBuild:kill_task",
];

/** A server process and one session of it, reached over gRPC. */
export interface ToolsServer extends AsyncDisposable {
  readonly server: ServerProcess;
  readonly transport: NodeTransport;
  readonly session: ToolSession;
}

/**
 * Starts one; `hasBallast`: with a further GiB of touched memory. TRIVIUM_BENCH_NODE_OPTIONS are options for its Node,
 * for example `--cpu-prof --cpu-prof-dir=/tmp/profiles`.
 */
export async function openTools(
  tools: readonly string[],
  { hasBallast = false, ...options }: ServerProcessOptions & { hasBallast?: boolean } = {},
): Promise<ToolsServer> {
  const ballast = `--import=${new URL("./ballast.ts", import.meta.url).href}`;
  const nodeOptions = [process.env["TRIVIUM_BENCH_NODE_OPTIONS"] ?? "", ...(hasBallast ? [ballast] : [])];
  const server = await startServerProcess({
    ...options,
    env: { ...options.env, NODE_OPTIONS: nodeOptions.join(" ").trim() },
  });
  const transport = createNodeTransport({ baseUrl: server.url });
  const session = await openToolSession(transport, { tools: [...tools] });
  return { server, transport, session, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** From here on the peak of a process's memory counts anew. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}
