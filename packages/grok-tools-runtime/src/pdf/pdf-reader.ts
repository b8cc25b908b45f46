import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { abortable, type Clock, linkSignals } from "@trivium/core";
import type { ResourceDefinition } from "../session-resource.ts";
import type { PdfAnswer, PdfJob } from "./pdf-job.ts";

/** What a document may take. */
export const PDF_TIMEOUT_MS = 60_000;

/** The renderer has ended without an answer. */
export class PdfRendererError extends Error {
  override readonly name: string = "PdfRendererError";
}

/**
 * Shows pages of documents, each in a thread of its own: its code is WebAssembly, so a broken or hostile document can
 * neither touch the server's memory nor hold it up. One document at a time.
 */
export class PdfReader {
  readonly #clock: Clock;
  #lastRead: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Takes the bytes of the job away from the caller.
   *
   * @throws `TimeoutError` after {@link PDF_TIMEOUT_MS}, the reason of `signal` when that aborts,
   * {@link PdfRendererError} when the renderer is lost.
   */
  async read(job: PdfJob, signal: AbortSignal): Promise<PdfAnswer> {
    const turn = this.#lastRead;
    const { promise: hasEnded, resolve: end } = Promise.withResolvers<void>();
    this.#lastRead = Promise.all([turn, hasEnded]);
    try {
      await abortable(turn, signal);
      using limit = linkSignals([signal], { timeoutMs: PDF_TIMEOUT_MS, clock: this.#clock });
      return await runWorker(job, limit.signal);
    } finally {
      end();
    }
  }
}

async function runWorker(job: PdfJob, signal: AbortSignal): Promise<PdfAnswer> {
  const worker = new Worker(workerScript(), {
    workerData: job,
    transferList: [job.bytes.buffer],
    name: "pdf",
    env: {},
    argv: [],
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64 },
  });
  try {
    worker.stdout.resume();
    worker.stderr.resume();
    const answer = new Promise<PdfAnswer>((resolve, reject) => {
      const lose = (cause?: unknown): void =>
        reject(new PdfRendererError("the renderer of PDF documents has failed", { cause }));
      worker.once("message", resolve).once("error", lose).once("exit", lose);
    });
    return await abortable(answer, signal);
  } finally {
    await worker.terminate();
  }
}

/** The file that runs in the thread: below this one in the sources, an entry of its own in the built package. */
function workerScript(): string {
  const name = import.meta.url.endsWith(".ts") ? "./worker/pdf-worker.ts" : "./pdf-worker.js";
  return fileURLToPath(new URL(name, import.meta.url));
}

/** The reader of a session. */
export const pdfReader: ResourceDefinition<PdfReader> = {
  name: "pdf reader",
  create: ({ clock }) => new PdfReader(clock),
};
