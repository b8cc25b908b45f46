import type { CellItem, CellOutcome } from "../outcome.ts";
import { fitOutput } from "./fit-output.ts";

/** How an outcome is shown to a model. */
export interface PresentOutcomeOptions {
  /** Time since the call began, in milliseconds. */
  readonly wallTimeMs: number;
  /** What the session was opened with. In a `bounded` one, the default, the host has cut the output and told the error. */
  readonly outputTruncation?: "bounded" | "off";
  /** Budget of the output. Means nothing in a bounded session. Default 10 000. */
  readonly maxOutputTokens?: number;
}

/** The result of an `exec` or `wait` call for a model. */
export interface PresentedOutcome {
  /** A header, then the output. Images have a `detail`. */
  readonly items: readonly CellItem[];
  /** False only for a program that failed. */
  readonly isSuccess: boolean;
}

const DEFAULT_OUTPUT_TOKENS = 10_000;

/** An outcome as the items of a tool result. */
export function presentOutcome(outcome: CellOutcome, options: PresentOutcomeOptions): PresentedOutcome {
  const { wallTimeMs, outputTruncation = "bounded", maxOutputTokens = DEFAULT_OUTPUT_TOKENS } = options;
  const { items, errorText } = outcome;
  const header = `${statusOf(outcome)}\nWall time ${(wallTimeMs / 1000).toFixed(1)} seconds\nOutput:\n`;
  const error =
    errorText === undefined ? [] : [{ type: "text" as const, text: `Script error:\n${errorText}` }];
  const output = outputTruncation === "bounded" ? items : fitOutput([...items, ...error], maxOutputTokens);
  return {
    items: [{ type: "text", text: header }, ...output.map(withDetail)],
    isSuccess: errorText === undefined,
  };
}

function statusOf({ state, cellId, errorText }: CellOutcome): string {
  if (state === "yielded") return `Script running with cell ID ${cellId}`;
  if (state === "terminated") return "Script terminated";
  return errorText === undefined ? "Script completed" : "Script failed";
}

function withDetail(item: CellItem): CellItem {
  return item.type === "image" ? { ...item, detail: item.detail ?? "high" } : item;
}
