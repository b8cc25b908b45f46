import { Worker } from "node:worker_threads";
import { abortReason, type Clock } from "@trivium/core";

/** All patterns of a message together may take so long, from the moment somebody works on them. */
const BUDGET_MS = 1_000;

/** Which of several texts a pattern fits, to be asked of many patterns. */
export interface PatternQuestion {
  /** Source of a regular expression. */
  readonly pattern: string;
  readonly flags: "" | "i";
  readonly texts: readonly string[];
}

const program = `
  const { parentPort, workerData } = require("node:worker_threads");
  parentPort.postMessage("ready");
  for (const [at, { pattern, flags, texts }] of workerData.entries()) {
    try {
      const expression = new RegExp(pattern, flags);
      if (texts.some((text) => expression.test(text))) parentPort.postMessage(at);
    } catch {}
  }
`;

/**
 * Whether each pattern is found in one of its texts. Patterns come from files and may take for ever, so a thread of its
 * own works on them: when the time is over, what was not answered fits nothing. One that is no regular expression fits
 * nothing.
 *
 * @throws the reason of the signal
 */
export async function fitsAny(
  questions: readonly PatternQuestion[],
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<boolean[]> {
  const fits = questions.map(() => false);
  if (questions.every(({ texts }) => texts.length === 0)) return fits;
  if (signal.aborted) throw abortReason(signal);
  const worker = new Worker(program, {
    eval: true,
    workerData: questions,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  });
  let timer: Disposable | undefined;
  const { promise: ended, resolve: end, reject } = Promise.withResolvers<void>();
  const onAbort = (): void => reject(abortReason(signal));
  signal.addEventListener("abort", onAbort, { once: true });
  worker.on("message", (message: unknown) => {
    if (message === "ready") timer = clock.setTimer(BUDGET_MS, end);
    else if (typeof message === "number") fits[message] = true;
  });
  // One that ran out of memory has said what it knew.
  worker.on("error", () => end());
  worker.on("exit", () => end());
  try {
    await ended;
    return fits;
  } finally {
    signal.removeEventListener("abort", onAbort);
    timer?.[Symbol.dispose]();
    await worker.terminate();
  }
}

/** The regular expression of a glob with `*`, `**`, `?` and `{a,b}`, for whole paths. */
export function globSource(glob: string): string {
  let source = "";
  let depth = 0;
  for (let at = 0; at < glob.length; at++) {
    const char = glob.charAt(at);
    if (glob.startsWith("**/", at)) {
      source += "(?:[^/]+/)*";
      at += 2;
    } else if (glob.startsWith("**", at)) {
      source += ".*";
      at += 1;
    } else if (char === "*") source += "[^/]*";
    else if (char === "?") source += "[^/]";
    else if (char === "{" && glob.includes("}", at)) {
      source += "(?:";
      depth += 1;
    } else if (char === "}" && depth > 0) {
      source += ")";
      depth -= 1;
    } else if (char === "," && depth > 0) source += "|";
    else source += char.replace(/[\\^$.|+()[\]{}/]/, "\\$&");
  }
  return `^${source}${")".repeat(depth)}$`;
}
