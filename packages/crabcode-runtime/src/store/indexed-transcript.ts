import type { Logger } from "@trivium/core";
import type { SessionIndex } from "./session-index.ts";
import type { Transcript, TranscriptEntry } from "./transcript.ts";
import type { TranscriptMark } from "./transcript-mark.ts";

/** What it is made of. */
export interface IndexedTranscriptDeps {
  readonly sessionId: string;
  readonly transcript: Transcript;
  readonly index: SessionIndex;
  /** Messages the transcript holds already. */
  readonly count: number;
  readonly logger: Logger;
}

/** The transcript of a main loop, whose messages the index hears of. */
export class IndexedTranscript implements Transcript {
  readonly #deps: IndexedTranscriptDeps;
  #count: number;

  constructor(deps: IndexedTranscriptDeps) {
    this.#deps = deps;
    this.#count = deps.count;
  }

  async append(entry: TranscriptEntry): Promise<void> {
    const { transcript, index, sessionId, logger } = this.#deps;
    await transcript.append(entry);
    const ordinal = this.#count++;
    try {
      index.messageWritten(sessionId, ordinal, entry);
    } catch (cause) {
      // The message is written all the same, and the transcript is what counts.
      logger.error({ sessionId, cause }, "a message is missing in the index of sessions");
    }
  }

  appendMark(mark: TranscriptMark): Promise<void> {
    return this.#deps.transcript.appendMark(mark);
  }

  sync(): Promise<void> {
    return this.#deps.transcript.sync();
  }

  close(): Promise<void> {
    return this.#deps.transcript.close();
  }
}
