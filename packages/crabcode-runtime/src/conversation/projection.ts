import type { CompactionMark } from "../store/compaction-mark.ts";
import type { TranscriptEntry } from "../store/transcript.ts";
import type { RollbackMark, TranscriptMark } from "../store/transcript-mark.ts";
import type { Message } from "./message.ts";

/** A message as the model is sent it. */
export interface ProjectedMessage {
  readonly uuid: string;
  /** 0-based position in the transcript; -1 for a message that a compaction made. */
  readonly index: number;
  readonly message: Message;
  /** When a compaction made it; absent for any other. */
  readonly timestamp?: string;
}

/**
 * What of a transcript the model is sent: its messages, as the marks between them change the view. Made by taking in
 * the records of a transcript in their order, so a restart arrives at the same.
 */
export class Projection {
  #items: ProjectedMessage[] = [];
  #messages: Message[] = [];
  /** Everything the transcript has, by position. */
  readonly #all: ProjectedMessage[] = [];
  /** The view at each checkpoint. */
  readonly #saved = new Map<string, readonly ProjectedMessage[]>();

  get items(): readonly ProjectedMessage[] {
    return this.#items;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  add({ uuid, message }: Pick<TranscriptEntry, "uuid" | "message">): void {
    const item = { uuid, index: this.#all.length, message };
    this.#all.push(item);
    this.#items.push(item);
    this.#messages.push(message);
  }

  apply(mark: TranscriptMark): void {
    switch (mark.type) {
      case "checkpoint": {
        const end = this.#items.findLastIndex(({ uuid }) => uuid === mark.messageUuid);
        const isLost = end < 0 && mark.messageUuid !== "";
        // Without its message (a line that could not be read) the position has to do.
        if (isLost && mark.messageIndex >= 0) return;
        this.#saved.set(mark.checkpointId, this.#items.slice(0, isLost ? this.#items.length : end + 1));
        return;
      }
      case "rollback":
        this.#show(this.after(mark));
        return;
      case "compaction":
        this.#show(this.#compacted(mark));
    }
  }

  /** The view a rollback leads to. What it keeps is kept whole, whatever a compaction has replaced of it. */
  after({
    checkpointId,
    rollbackToIndex,
    keepFromIndex = Infinity,
  }: Pick<RollbackMark, "checkpointId" | "rollbackToIndex" | "keepFromIndex">): readonly ProjectedMessage[] {
    const saved =
      this.#saved.get(checkpointId) ?? this.#items.filter(({ index }) => index <= rollbackToIndex);
    const known = new Set(saved.map(({ uuid }) => uuid));
    const shown = new Map(this.#items.map((item) => [item.uuid, item]));
    const kept = this.#all.filter(({ uuid, index }) => index >= keepFromIndex && !known.has(uuid));
    return [...saved, ...kept.map((item) => shown.get(item.uuid) ?? item)];
  }

  /**
   * A message that is not in the view (any more) is left out: the line that had it could not be read. When it is the
   * first one, a summary may be missing that stands for others, so the view stays as it is.
   */
  #compacted({ messages, timestamp }: CompactionMark): ProjectedMessage[] {
    const known = new Map(this.#items.map((item) => [item.uuid, item]));
    const [first] = messages;
    if (first?.message === undefined && !known.has(first?.uuid ?? "")) return this.#items;
    return messages.flatMap(({ uuid, message }) => {
      const item = known.get(uuid);
      if (message === undefined) return item === undefined ? [] : [item];
      return [item === undefined ? { uuid, index: -1, message, timestamp } : { ...item, message }];
    });
  }

  #show(items: readonly ProjectedMessage[]): void {
    this.#items = [...items];
    this.#messages = items.map(({ message }) => message);
  }
}
