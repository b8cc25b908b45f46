import { monitorEventLoopDelay } from "node:perf_hooks";
import type { MetricsRegistry } from "@trivium/endpoint";
import type { CodeModePart } from "./code-mode-part.ts";
import type { ToolsPart } from "./tools-part.ts";

const NANOSECONDS = 1e9;

/** What a server's parts add to its metrics. */
export interface MetricsParts {
  readonly tools: ToolsPart | undefined;
  readonly codeMode: CodeModePart | undefined;
}

/** Registers gauges of the parts that run. Disposing stops the measuring of the event loop. */
export function registerMetrics(metrics: MetricsRegistry, { tools, codeMode }: MetricsParts): Disposable {
  if (tools !== undefined) {
    metrics.gauge("trivium_commands", "Commands by state.", () => {
      const { live, queued, lingering } = tools.processes.stats();
      return [
        { labels: { state: "live" }, value: live },
        { labels: { state: "queued" }, value: queued },
        { labels: { state: "lingering" }, value: lingering },
      ];
    });
    metrics.gauge(
      "trivium_supervisors",
      "Processes that watch commands.",
      () => tools.processes.stats().supervisors,
    );
  }
  if (codeMode !== undefined) {
    const { engine, runtime } = codeMode;
    metrics.gauge("trivium_code_mode_sessions", "Open code-mode sessions.", () => runtime.stats().sessions);
    metrics.gauge(
      "trivium_cells",
      "Cells that run or whose result nobody has claimed.",
      () => runtime.stats().openCells,
    );
    metrics.gauge("trivium_cell_workers", "Worker processes of cells.", () => engine.stats().workers);
    metrics.gauge(
      "trivium_cell_worker_restarts",
      "Workers replaced since the start.",
      () => engine.stats().workerRestarts,
    );
  }
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  metrics.gauge("trivium_event_loop_delay_seconds", "Delay of the event loop since the last reading.", () => {
    const samples = [0.5, 0.99].map((quantile) => ({
      labels: { quantile: String(quantile) },
      value: delay.percentile(quantile * 100) / NANOSECONDS,
    }));
    delay.reset();
    return samples;
  });
  return { [Symbol.dispose]: () => void delay.disable() };
}
