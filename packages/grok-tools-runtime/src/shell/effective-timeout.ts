import type { ShellParams } from "./shell-params.ts";

/** Run time after which any command ends. */
export const MAX_RUN_TIME_MS = 36_000_000;

const DEFAULT_TIMEOUT_SECONDS = 120;
const DEFAULT_CEILING_SECONDS = 300;
const DEFAULT_FOREGROUND_CLAMP_MS = 300_000;
const DEFAULT_BLOCK_BUDGET_MS = 15_000;

export interface TimeoutRequest {
  /** What the call asks for. 0 and undefined: nothing. */
  readonly timeoutMs: number | undefined;
  readonly isBackground: boolean;
  readonly params: ShellParams;
  /** Variables of the server that may change the limits. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Longest time a foreground call may take whatever it asks for. Default: that of the server. */
  readonly clampMs?: number | undefined;
}

/** When a command is ended, and when a foreground call stops waiting for it. */
export interface EffectiveTimeout {
  /** Run time of the command, in milliseconds. */
  readonly runMs: number;
  /** True when `runMs` is only the limit that every command has. */
  readonly isMaxRunTime: boolean;
  /** Time after which a foreground command goes on in the background; undefined: never. */
  readonly blockMs: number | undefined;
}

/** Combines what the call asks for with the tool's configuration. */
export function effectiveTimeout({
  timeoutMs,
  isBackground,
  params,
  environment,
  clampMs: ownClampMs,
}: TimeoutRequest): EffectiveTimeout {
  const ceilingMs = ceilingOf(params);
  const defaultMs = defaultOf(params, ceilingMs);
  const isGiven = timeoutMs !== undefined && timeoutMs > 0;
  if (isBackground) {
    const runMs = isGiven ? Math.min(timeoutMs, MAX_RUN_TIME_MS) : MAX_RUN_TIME_MS;
    return { runMs, isMaxRunTime: !isGiven, blockMs: undefined };
  }
  const foregroundMs = isGiven ? Math.min(timeoutMs, ceilingMs) : defaultMs;
  if (params.auto_background_on_timeout) {
    const budgetMs =
      params.foreground_block_budget_ms ??
      positiveNumber(environment["GROK_FOREGROUND_BLOCK_BUDGET_MS"]) ??
      DEFAULT_BLOCK_BUDGET_MS;
    const blockMs = budgetMs === 0 ? foregroundMs : Math.min(budgetMs, foregroundMs);
    return { runMs: MAX_RUN_TIME_MS, isMaxRunTime: true, blockMs };
  }
  const clampMs =
    ownClampMs ?? positiveNumber(environment["GROK_MAX_FOREGROUND_BLOCK_MS"]) ?? DEFAULT_FOREGROUND_CLAMP_MS;
  return {
    runMs: Math.min(foregroundMs, Math.max(clampMs, defaultMs)),
    isMaxRunTime: false,
    blockMs: undefined,
  };
}

/** Default and ceiling of a foreground call, for the advertised schema. */
export function foregroundLimits(params: ShellParams): { defaultMs: number; ceilingMs: number } {
  const ceilingMs = ceilingOf(params);
  return { defaultMs: defaultOf(params, ceilingMs), ceilingMs };
}

function ceilingOf({ max_timeout_secs: seconds }: ShellParams): number {
  return Math.min(MAX_RUN_TIME_MS, Math.max(1, Math.round((seconds ?? DEFAULT_CEILING_SECONDS) * 1000)));
}

function defaultOf({ timeout_secs: seconds }: ShellParams, ceilingMs: number): number {
  const wanted = seconds !== null && seconds > 0 ? seconds : DEFAULT_TIMEOUT_SECONDS;
  return Math.max(1, Math.min(Math.round(wanted * 1000), ceilingMs));
}

function positiveNumber(text: string | undefined): number | undefined {
  const number = Number(text ?? "");
  return Number.isFinite(number) && number > 0 ? number : undefined;
}
