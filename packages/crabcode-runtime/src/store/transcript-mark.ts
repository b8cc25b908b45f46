import { z } from "zod";
import { type CompactionMark, compactionLine, compactionToLine } from "./compaction-mark.ts";

/** A place in a conversation that one can return to. */
export interface CheckpointMark {
  readonly type: "checkpoint";
  readonly checkpointId: string;
  /** RFC 3339, UTC. */
  readonly timestamp: string;
  /** UUID of the last message that belongs to it; "" before the first. */
  readonly messageUuid: string;
  /** Its 0-based position in the transcript; -1 before the first. */
  readonly messageIndex: number;
  readonly label: string;
  /** Absent: no files were kept with it. */
  readonly snapshotId?: string | undefined;
}

/** From here on the conversation is what it was at a checkpoint. */
export interface RollbackMark {
  readonly type: "rollback";
  readonly checkpointId: string;
  /** RFC 3339, UTC. */
  readonly timestamp: string;
  /** Position of the last message that stays. */
  readonly rollbackToIndex: number;
  /** Messages from this position on stay too: those of the turn that rolls back. */
  readonly keepFromIndex?: number | undefined;
}

/** What a transcript says about messages, between them. Messages themselves are never changed or removed. */
export type TranscriptMark = CheckpointMark | RollbackMark | CompactionMark;

const checkpointLine = z
  .object({
    type: z.literal("checkpoint"),
    checkpoint_id: z.string(),
    timestamp: z.string().default(""),
    message_uuid: z
      .string()
      .nullish()
      .transform((uuid) => uuid ?? ""),
    message_index: z.int(),
    label: z.string().nullish(),
    snapshot_id: z.string().nullish(),
  })
  .transform(
    (line): CheckpointMark => ({
      type: "checkpoint",
      checkpointId: line.checkpoint_id,
      timestamp: line.timestamp,
      messageUuid: line.message_uuid,
      messageIndex: line.message_index,
      label: line.label ?? "",
      snapshotId: line.snapshot_id ?? undefined,
    }),
  );

const rollbackLine = z
  .object({
    type: z.literal("rollback"),
    checkpoint_id: z.string(),
    timestamp: z.string().default(""),
    rollback_to_index: z.int(),
    keep_from_index: z.int().nullish(),
  })
  .transform(
    (line): RollbackMark => ({
      type: "rollback",
      checkpointId: line.checkpoint_id,
      timestamp: line.timestamp,
      rollbackToIndex: line.rollback_to_index,
      keepFromIndex: line.keep_from_index ?? undefined,
    }),
  );

const markLine = z.union([checkpointLine, rollbackLine, compactionLine]);

/** The mark a line holds; undefined for every other line. */
export function parseMark(line: unknown): TranscriptMark | undefined {
  return markLine.safeParse(line).data;
}

/** A mark as it is written. */
export function markToLine(mark: TranscriptMark): Readonly<Record<string, unknown>> {
  if (mark.type === "compaction") return compactionToLine(mark);
  const { type, timestamp, checkpointId: checkpoint_id } = mark;
  if (mark.type === "checkpoint") {
    const { messageUuid: message_uuid, messageIndex: message_index, label, snapshotId: snapshot_id } = mark;
    return { type, checkpoint_id, timestamp, message_uuid, message_index, label, snapshot_id };
  }
  const { rollbackToIndex: rollback_to_index, keepFromIndex: keep_from_index } = mark;
  return { type, checkpoint_id, timestamp, rollback_to_index, keep_from_index };
}
