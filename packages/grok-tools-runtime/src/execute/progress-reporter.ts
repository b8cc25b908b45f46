import type { Logger } from "@trivium/core";
import type { ToolProgress } from "../tool.ts";
import type { PreparedCall } from "./run-call.ts";

/** Hands the progress of one call to its caller, while the tool runs. */
export class ProgressReporter {
  #onProgress: ((chunk: ToolProgress) => void) | undefined;
  readonly #logger: Logger;

  constructor({ options }: PreparedCall, logger: Logger) {
    this.#onProgress = options.onProgress;
    this.#logger = logger;
  }

  /** What the tool calls. A caller that throws hears no more and does not disturb the tool. */
  readonly report = (chunk: ToolProgress): void => {
    try {
      this.#onProgress?.(chunk);
    } catch (cause) {
      this.stop();
      this.#logger.warn({ cause }, "a listener for the progress of a tool failed");
    }
  };

  /** The tool has ended; background work that goes on must not report to its call any more. */
  stop(): void {
    this.#onProgress = undefined;
  }
}
