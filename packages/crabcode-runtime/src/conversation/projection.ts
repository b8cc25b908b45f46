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
}

/**
 * What of a transcript the model is sent: its messages, as the marks between them change the view. Made by taking in
 * the records of a transcript in their order, so a restart arrives at the same.
 */
export class Projection {
  #items: ProjectedMessage[] = [];
  #messages: Message[] = [];
  #count = 0;
  /** The view at each checkpoint. */
  readonly #saved = new Map<string, readonly ProjectedMessage[]>();

  get items(): readonly ProjectedMessage[] {
    return this.#items;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  add({ uuid, message }: Pick<TranscriptEntry, "uuid" | "message">): void {
    this.#items.push({ uuid, index: this.#count, message });
    this.#messages.push(message);
    this.#count++;
  }

  apply(mark: TranscriptMark): void {
    switch (mark.type) {
      case "checkpoint": {
        const end = this.#items.findLastIndex(({ uuid }) => uuid === mark.messageUuid);
        // Without its message (a line that could not be read) the position has to do.
        if (end < 0 && mark.messageIndex >= 0) return;
        this.#saved.set(mark.checkpointId, this.#items.slice(0, end + 1));
        return;
      }
      case "rollback":
        this.#show(this.after(mark));
        return;
      case "compaction":
        this.#show(this.#compacted(mark));
    }
  }

  /** The view a rollback leads to. */
  after({
    checkpointId,
    rollbackToIndex,
    keepFromIndex = Infinity,
  }: Pick<RollbackMark, "checkpointId" | "rollbackToIndex" | "keepFromIndex">): readonly ProjectedMessage[] {
    const saved =
      this.#saved.get(checkpointId) ?? this.#items.filter(({ index }) => index <= rollbackToIndex);
    const known = new Set(saved.map(({ uuid }) => uuid));
    const kept = this.#items.filter(({ uuid, index }) => index >= keepFromIndex && !known.has(uuid));
    return [...saved, ...kept];
  }

  /** A message that is not in the view (any more) is left out: the line that had it could not be read. */
  #compacted({ messages }: CompactionMark): ProjectedMessage[] {
    const known = new Map(this.#items.map((item) => [item.uuid, item]));
    return messages.flatMap(({ uuid, message }) => {
      const item = known.get(uuid);
      if (message !== undefined) return [{ uuid, index: item?.index ?? -1, message }];
      return item === undefined ? [] : [item];
    });
  }

  #show(items: readonly ProjectedMessage[]): void {
    this.#items = [...items];
    this.#messages = items.map(({ message }) => message);
  }
}
