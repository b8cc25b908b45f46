/** What one check of `trivium doctor` found. */
export interface CheckResult {
  readonly name: string;
  /** `warn` works with less; `fail` does not work. */
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
}

/** One thing the doctor looks at. Throwing means `fail` with the message. */
export interface Check {
  readonly name: string;
  run(signal: AbortSignal): Promise<Omit<CheckResult, "name">>;
}

/** Runs checks one after the other; one that hangs fails after `timeoutMs`. */
export async function runChecks(checks: readonly Check[], timeoutMs: number): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    const { name } = check;
    const signal = AbortSignal.timeout(timeoutMs);
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(new Error(`no answer within ${timeoutMs} ms`)), {
        once: true,
      });
    });
    try {
      results.push({ name, ...(await Promise.race([check.run(signal), late])) });
    } catch (thrown) {
      results.push({
        name,
        status: "fail",
        detail: thrown instanceof Error ? thrown.message : String(thrown),
      });
    }
  }
  return results;
}

/** The results as text, one line each. */
export function formatResults(results: readonly CheckResult[]): string {
  const width = Math.max(...results.map(({ name }) => name.length));
  return results
    .map(({ name, status, detail }) => `${status.padEnd(4)}  ${name.padEnd(width)}  ${detail}`)
    .join("\n");
}
