import { codeModeMethodLimits, codeModeService } from "@trivium/code-mode-host";
import { createCellEngine, createCodeModeRuntime } from "@trivium/code-mode-runtime";
import { randomIds, silentLogger, systemClock } from "@trivium/core";
import { createEndpoint } from "@trivium/endpoint";

/** The code-mode service alone, with real cells, on a port of its own. */
export interface CodeModeServer extends AsyncDisposable {
  readonly url: string;
  /** What is alive in it. */
  stats(): { readonly sessions: number; readonly openCells: number };
}

export async function startCodeModeServer(): Promise<CodeModeServer> {
  const engine = createCellEngine();
  const runtime = createCodeModeRuntime({
    engine,
    clock: systemClock,
    ids: randomIds,
    logger: silentLogger,
  });
  const endpoint = createEndpoint({
    services: [codeModeService({ runtime })],
    methodLimits: codeModeMethodLimits,
  });
  const { url } = await endpoint.listen({ port: 0 });
  return {
    url,
    stats: () => runtime.stats(),
    async [Symbol.asyncDispose]() {
      await runtime[Symbol.asyncDispose]();
      await endpoint.close();
      await engine[Symbol.asyncDispose]();
    },
  };
}
