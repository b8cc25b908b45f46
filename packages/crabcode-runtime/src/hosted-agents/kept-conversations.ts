import { TriviumError } from "@trivium/core";
import type { Transcript, TranscriptEntry, TranscriptRecord } from "../store/transcript.ts";
import type { TranscriptMark } from "../store/transcript-mark.ts";

/** Conversations of one owner. */
const MAX_COUNT = 1024;
const MAX_BYTES = 64 * 1024 * 1024;

/** What is known of a conversation. */
export interface KeptRecords {
  readonly records: readonly TranscriptRecord[];
  /** Size of their JSON texts, in bytes. */
  readonly bytes: number;
}

/** A conversation that can go on. */
export interface KeptConversation extends KeptRecords {
  /** Profile it was held with. */
  readonly modelProfile: string;
}

/** The transcript of one hosted agent, in memory only. */
export class MemoryTranscript implements Transcript, KeptRecords {
  readonly #records: TranscriptRecord[];
  #bytes: number;

  constructor({ records, bytes }: KeptRecords) {
    this.#records = [...records];
    this.#bytes = bytes;
  }

  get records(): readonly TranscriptRecord[] {
    return this.#records;
  }

  get bytes(): number {
    return this.#bytes;
  }

  append(entry: TranscriptEntry): Promise<void> {
    return this.#add({ kind: "message", entry });
  }

  appendMark(mark: TranscriptMark): Promise<void> {
    return this.#add({ kind: "mark", mark });
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #add(record: TranscriptRecord): Promise<void> {
    this.#records.push(record);
    this.#bytes += Buffer.byteLength(JSON.stringify(record));
    return Promise.resolve();
  }
}

/** The conversations of one owner's ended agents: the newest ones, as long as they fit. */
export class KeptConversations {
  readonly #kept = new Map<string, KeptConversation>();
  #bytes = 0;

  /** @throws TriviumError `notFound` */
  get(id: string): KeptConversation {
    const kept = this.#kept.get(id);
    if (kept !== undefined) return kept;
    throw new TriviumError(
      "notFound",
      `there is no conversation of the agent ${id} to go on with; start a new one`,
    );
  }

  /** Keeps a conversation; the newest one in any case. */
  keep(id: string, conversation: KeptConversation): void {
    this.#forget(id);
    this.#kept.set(id, conversation);
    this.#bytes += conversation.bytes;
    for (const oldest of this.#kept.keys()) {
      if (oldest === id || (this.#kept.size <= MAX_COUNT && this.#bytes <= MAX_BYTES)) break;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    this.#bytes -= this.#kept.get(id)?.bytes ?? 0;
    this.#kept.delete(id);
  }
}
