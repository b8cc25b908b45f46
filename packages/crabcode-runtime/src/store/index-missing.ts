import { join } from "node:path";
import type { Logger } from "@trivium/core";
import type { SessionRegistry } from "../sessions/session-registry.ts";
import type { SessionIndex } from "./session-index.ts";
import { TranscriptFile } from "./transcript.ts";

/** What it works with. */
export interface IndexMissingDeps {
  readonly registry: Pick<SessionRegistry, "exclusively" | "isClosing">;
  readonly index: SessionIndex;
  /** Undefined: nothing is kept on disk. */
  readonly transcripts: string | undefined;
  readonly logger: Logger;
}

/**
 * Takes the messages into the index that an earlier release has not, one session after the other, until the runtime
 * closes. A session that is loaded sees to it itself.
 */
export async function indexMissing({
  registry,
  index,
  transcripts,
  logger,
}: IndexMissingDeps): Promise<void> {
  if (transcripts === undefined) return;
  for (const sessionId of index.incomplete()) {
    if (registry.isClosing) return;
    const indexed = registry.exclusively(sessionId, async () => {
      const records = await new TranscriptFile(join(transcripts, `${sessionId}.jsonl`)).read(logger);
      const entries = records.flatMap((record) => (record.kind === "message" ? [record.entry] : []));
      index.reconcile(sessionId, entries);
    });
    await indexed?.catch((cause: unknown) => {
      logger.error({ sessionId, cause }, "messages of a session are missing in the search");
    });
  }
}
