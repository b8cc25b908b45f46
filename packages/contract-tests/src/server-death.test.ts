import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { CodeModeHost } from "@trivium/proto/code-mode";
import { GrokToolsService } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import { aliveOf, descendantsOf, eventually, processesWith } from "./server/process-tree.ts";
import { startServerProcess } from "./server/server-process.ts";

const shellTools = ["run_terminal_cmd", "get_task_output", "kill_task"].map((name) => ({
  id: `GrokBuild:${name}`,
}));

describe("the death of the server", () => {
  it("leaves no helper, command or cell alive two seconds later", async () => {
    await using server = await startServerProcess();
    const transport = createGrpcTransport({ baseUrl: server.url });
    const tools = createClient(GrokToolsService, transport);
    await tools.finalizeToolConfigRequest({ tools: shellTools });
    const run = (command: string, isBackground: boolean) =>
      tools.executeTool({
        toolName: "run_terminal_cmd",
        inputJson: JSON.stringify({ command, description: "x", is_background: isBackground }),
      });
    // A background task, a foreground command, and a daemon in a session of its own.
    await run("sleep 3171.1", true);
    const foreground = run("setsid sleep 3171.2 & sleep 3171.3", false).catch(() => {
      // The server dies under it.
    });
    const host = createClient(CodeModeHost, transport);
    const lease = host.openSession({})[Symbol.asyncIterator]();
    const opened = await lease.next();
    const event = opened.done === true ? undefined : opened.value.event;
    if (event?.case !== "opened") throw new Error("no session");
    for await (const _ of host.execute({
      sessionId: event.value.sessionId,
      executionId: "e",
      toolCallId: "t",
      source: "while (true) {}",
      yieldTimeMs: 50n,
    }));
    expect(await eventually(() => processesWith("sleep 3171.").length >= 3, 5_000)).toBe(true);
    const family = [...descendantsOf(server.pid), ...processesWith("sleep 3171.")];
    expect(family.length).toBeGreaterThan(4);
    await server.kill();
    expect(await eventually(() => aliveOf(family).length === 0, 2_000)).toBe(true);
    expect(processesWith("sleep 3171.")).toEqual([]);
    await foreground;
    await lease.next().catch(() => {
      // The lease went with the server.
    });
  });

  it("ends with exit code 0 on SIGTERM and takes everything with it", async () => {
    await using server = await startServerProcess();
    const tools = createClient(GrokToolsService, createGrpcTransport({ baseUrl: server.url }));
    await tools.finalizeToolConfigRequest({ tools: shellTools });
    await tools.executeTool({
      toolName: "run_terminal_cmd",
      inputJson: JSON.stringify({ command: "sleep 3172.1", description: "x", is_background: true }),
    });
    const family = descendantsOf(server.pid);
    expect(await server.stop()).toBe(0);
    expect(await eventually(() => aliveOf(family).length === 0, 2_000)).toBe(true);
    expect(processesWith("sleep 3172.1")).toEqual([]);
  });
});
