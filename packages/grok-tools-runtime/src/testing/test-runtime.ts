import { ManualClock, sequentialIds, temporaryFolder } from "@trivium/core/testing";
import {
  createGrokToolsRuntime,
  type GrokToolsRuntime,
  type GrokToolsRuntimeOptions,
} from "../grok-tools-runtime.ts";
import type { Tool } from "../tool.ts";
import { createToolRegistry } from "../tool-registry.ts";
import { toolContext } from "./tool-context.ts";

/** A runtime over some tools in a fresh folder; disposing it removes both. */
export interface TestRuntime extends AsyncDisposable {
  readonly runtime: GrokToolsRuntime;
  readonly clock: ManualClock;
  readonly workspace: string;
  readonly options: GrokToolsRuntimeOptions;
}

/** Opens a {@link TestRuntime}. */
export async function testRuntime(
  tools: readonly Tool[],
  overrides: Partial<GrokToolsRuntimeOptions> = {},
): Promise<TestRuntime> {
  const folder = await temporaryFolder();
  const clock = new ManualClock();
  const { commandRunner, programRunner } = toolContext();
  const options = {
    registry: createToolRegistry(tools),
    workspace: folder.path,
    dataDir: `${folder.path}/data`,
    commandRunner,
    programRunner,
    clock,
    ids: sequentialIds(),
    ...overrides,
  };
  const runtime = createGrokToolsRuntime(options);
  return {
    runtime,
    clock,
    workspace: folder.path,
    options,
    async [Symbol.asyncDispose]() {
      await runtime[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
