import { TriviumError } from "@trivium/core";

/** Values of the label names of a metric. */
export type Labels = Readonly<Record<string, string>>;

/** One value of a gauge that is read when the metrics are. */
export interface GaugeSample {
  readonly labels?: Labels | undefined;
  readonly value: number;
}

interface Metric {
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  lines(name: string): Iterable<string>;
}

/** Seconds; from a fast unary call to a long turn. */
const DEFAULT_BUCKETS: readonly number[] = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300];

/**
 * Metrics of one process in the text format of Prometheus.
 *
 * Names begin with `trivium_`. Label values must come from a small fixed set: each combination is kept for good.
 */
export class MetricsRegistry {
  readonly #metrics = new Map<string, Metric>();

  /** A number that only grows. Its name ends in `_total`. */
  counter(name: string, help: string): Counter {
    const counter = new Counter();
    this.#add(name, { help, type: "counter", lines: (own) => counter.lines(own) });
    return counter;
  }

  /** A distribution of seconds. Its name ends in `_seconds`. */
  histogram(name: string, help: string, buckets: readonly number[] = DEFAULT_BUCKETS): Histogram {
    const histogram = new Histogram(buckets);
    this.#add(name, { help, type: "histogram", lines: (own) => histogram.lines(own) });
    return histogram;
  }

  /** A number that is asked for on each reading: live sessions, queue depths. `collect` must be quick. */
  gauge(name: string, help: string, collect: () => number | readonly GaugeSample[]): void {
    this.#add(name, {
      help,
      type: "gauge",
      *lines(own) {
        const collected = collect();
        const samples = typeof collected === "number" ? [{ value: collected }] : collected;
        for (const { labels, value } of samples) yield `${own}${formatLabels(labels)} ${value}`;
      },
    });
  }

  /** Everything, as `text/plain; version=0.0.4`. */
  render(): string {
    const lines: string[] = [];
    for (const [name, metric] of this.#metrics) {
      lines.push(`# HELP ${name} ${metric.help}`, `# TYPE ${name} ${metric.type}`, ...metric.lines(name));
    }
    return `${lines.join("\n")}\n`;
  }

  #add(name: string, metric: Metric): void {
    if (!/^trivium_[a-z0-9_]+$/.test(name)) {
      throw new TriviumError("invalidInput", `metric name ${name} does not begin with trivium_`);
    }
    if (this.#metrics.has(name)) throw new TriviumError("alreadyExists", `metric ${name} exists`);
    this.#metrics.set(name, metric);
  }
}

/** See {@link MetricsRegistry.counter}. */
export class Counter {
  readonly #values = new Map<string, number>();

  increment(labels: Labels = {}, by = 1): void {
    this.#add(formatLabels(labels), by);
  }

  /** Counts one at each call, for labels that come up often: they are put into text once. */
  withLabels(labels: Labels): () => void {
    const key = formatLabels(labels);
    return () => this.#add(key, 1);
  }

  #add(key: string, by: number): void {
    this.#values.set(key, (this.#values.get(key) ?? 0) + by);
  }

  *lines(name: string): Iterable<string> {
    for (const [labels, value] of this.#values) yield `${name}${labels} ${value}`;
  }
}

/** See {@link MetricsRegistry.histogram}. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>();

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
  }

  observe(labels: Labels, seconds: number): void {
    this.withLabels(labels)(seconds);
  }

  /** Takes one value at each call, for labels that come up often: they are put into text once. */
  withLabels(labels: Labels): (seconds: number) => void {
    const key = formatLabels(labels);
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { labels, counts: this.#bounds.map(() => 0), sum: 0, count: 0 };
      this.#series.set(key, series);
    }
    const { counts } = series;
    const own = series;
    return (seconds) => {
      own.count++;
      own.sum += seconds;
      for (let index = 0; index < this.#bounds.length; index++) {
        if (seconds <= (this.#bounds[index] ?? 0)) counts[index] = (counts[index] ?? 0) + 1;
      }
    };
  }

  *lines(name: string): Iterable<string> {
    for (const { labels, counts, sum, count } of this.#series.values()) {
      for (const [index, bound] of this.#bounds.entries()) {
        yield `${name}_bucket${formatLabels({ ...labels, le: String(bound) })} ${counts[index] ?? 0}`;
      }
      yield `${name}_bucket${formatLabels({ ...labels, le: "+Inf" })} ${count}`;
      yield `${name}_sum${formatLabels(labels)} ${sum}`;
      yield `${name}_count${formatLabels(labels)} ${count}`;
    }
  }
}

function formatLabels(labels: Labels = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeValue(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
