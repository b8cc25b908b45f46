import type { WorkflowEngine } from "./workflow-engine.ts";

/** Thrown by the first statement of a script that is only checked: whoever sees it knows that the rest compiles. */
const REACHED = "trivium: this script compiles";

/**
 * What keeps a script from compiling; undefined when it does. Nothing of it runs.
 *
 * Rejects with the reason of the signal.
 */
export async function checkScript(
  engine: WorkflowEngine,
  source: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const refuse = (): Promise<never> => Promise.reject(new Error("a script that is checked calls nothing"));
  const { errorText } = await engine.run({
    // On the line of the script's beginning, so that lines in messages are right.
    source: `throw new Error(${JSON.stringify(REACHED)}); ${source}`,
    args: null,
    signal,
    agent: refuse,
    parallel: refuse,
  });
  if (errorText?.includes(REACHED) === true) return undefined;
  return errorText ?? "it ends before it begins";
}
