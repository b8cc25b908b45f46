/** How long questions wait unless configured otherwise. */
export const DEFAULT_TIMEOUT_SECONDS = 1_800;
/** Ten years. The end has to be a date that can be told. */
const MAX_TIMEOUT_SECONDS = 10 * 365 * 86_400;

/** What decides how long a question waits. */
export interface QuestionTimeoutParams {
  readonly timeout_enabled: boolean | null;
  /** Above 0, else it counts as absent. */
  readonly timeout_secs: number | null;
}

/** Milliseconds a set of questions waits; undefined: for ever. Params win over the server's environment. */
export function questionTimeoutMs(
  { timeout_enabled, timeout_secs }: QuestionTimeoutParams,
  environment: Readonly<Record<string, string | undefined>>,
): number | undefined {
  if (timeout_enabled === false) return undefined;
  const fromServer = Number(environment["GROK_ASK_USER_QUESTION_TIMEOUT_SECS"] ?? "");
  const seconds = [timeout_secs ?? 0, fromServer].find((value) => Number.isFinite(value) && value > 0);
  return Math.min(seconds ?? DEFAULT_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS) * 1000;
}
