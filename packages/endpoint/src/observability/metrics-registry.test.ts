import { TriviumError } from "@trivium/core";
import { describe, expect, it } from "vitest";
import { MetricsRegistry } from "./metrics-registry.ts";

describe("MetricsRegistry", () => {
  it("renders counters, histograms and gauges as Prometheus text", () => {
    const registry = new MetricsRegistry();
    const counter = registry.counter("trivium_things_total", "Things.");
    counter.increment();
    counter.increment({ kind: 'a "quoted" \\ line\n' }, 2);
    const histogram = registry.histogram("trivium_wait_seconds", "Waits.", [0.1, 1]);
    histogram.observe({ queue: "q" }, 0.05);
    histogram.observe({ queue: "q" }, 5);
    registry.gauge("trivium_depth", "Depth.", () => 3);
    registry.gauge("trivium_live", "Live.", () => [{ labels: { kind: "cell" }, value: 1 }, { value: 2 }]);
    expect(registry.render().split("\n")).toEqual([
      "# HELP trivium_things_total Things.",
      "# TYPE trivium_things_total counter",
      "trivium_things_total 1",
      'trivium_things_total{kind="a \\"quoted\\" \\\\ line\\n"} 2',
      "# HELP trivium_wait_seconds Waits.",
      "# TYPE trivium_wait_seconds histogram",
      'trivium_wait_seconds_bucket{queue="q",le="0.1"} 1',
      'trivium_wait_seconds_bucket{queue="q",le="1"} 1',
      'trivium_wait_seconds_bucket{queue="q",le="+Inf"} 2',
      'trivium_wait_seconds_sum{queue="q"} 5.05',
      'trivium_wait_seconds_count{queue="q"} 2',
      "# HELP trivium_depth Depth.",
      "# TYPE trivium_depth gauge",
      "trivium_depth 3",
      "# HELP trivium_live Live.",
      "# TYPE trivium_live gauge",
      'trivium_live{kind="cell"} 1',
      "trivium_live 2",
      "",
    ]);
  });

  it("refuses a name twice, and names of others", () => {
    const registry = new MetricsRegistry();
    registry.counter("trivium_things_total", "Things.");
    expect(() => registry.gauge("trivium_things_total", "Things.", () => 0)).toThrow(TriviumError);
    expect(() => registry.counter("http_requests_total", "Requests.")).toThrow("trivium_");
  });
});
