import { systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import type { McpServerConfig } from "@trivium/mcp";
import { testServerCommand } from "@trivium/mcp/testing";
import type { OpenSessionOptions } from "../../grok-tools-runtime.ts";
import { createCommandRunner } from "../../process/create-command-runner.ts";
import { echo } from "../../testing/sample-tools.ts";
import { testRuntime } from "../../testing/test-runtime.ts";
import type { ToolSession } from "../../tool-session.ts";
import { searchTool } from "../../tools/grok-build/search-tool/search-tool.ts";
import { useTool } from "../../tools/grok-build/use-tool/use-tool.ts";

export interface McpTestOptions {
  readonly servers?: Readonly<Record<string, McpServerConfig>>;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Sessions with MCP servers whose programs are really started. */
export interface McpTest extends AsyncDisposable {
  /** Folder of the sessions. */
  readonly workspace: string;
  open(options?: Partial<OpenSessionOptions>): Promise<ToolSession>;
}

/** Opens an {@link McpTest}; without servers of its own it has the test server as `test`. */
export async function mcpTest({
  servers = { test: testServerCommand() },
  environment = {},
}: McpTestOptions = {}): Promise<McpTest> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const runner = stack.use(await createCommandRunner({ dataFolder: folder.path }));
  const test = stack.use(
    await testRuntime([searchTool, useTool, echo], {
      programRunner: runner.programs,
      clock: systemClock,
      environment: { PATH: process.env["PATH"], HOME: folder.path, ...environment },
      settings: { mcpServers: servers },
    }),
  );
  const owned = stack.move();
  let count = 0;
  return {
    workspace: test.workspace,
    open: (options = {}) =>
      test.runtime.openSession({
        id: `mcp-${++count}`,
        tools: ["GrokBuild:search_tool", "GrokBuild:use_tool", "Sample:echo"],
        ...options,
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
