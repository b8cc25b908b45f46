import type { PageRequest } from "../paging/page-token.ts";
import type { SessionReference } from "../sessions/session-selector.ts";

/** A place in a conversation that one can return to. */
export interface Checkpoint {
  /** 12 hexadecimal characters. */
  readonly checkpointId: string;
  readonly label: string;
  readonly createdAtMs: number;
  /** Last message at that time; "" before the first. */
  readonly messageId: string;
  /** Its 0-based position in the transcript; -1 before the first. */
  readonly messageIndex: number;
  /** Undefined: the conversation only, or the files were kept for 7 days and are gone. */
  readonly snapshotId: string | undefined;
  /** Files of the snapshot. */
  readonly fileCount: number;
  /** Made before a revert. */
  readonly isAutomatic: boolean;
}

/** What a revert brings back. */
export type RevertScope = "both" | "conversation" | "files";

/** What a client asks to be kept. */
export interface CreateCheckpointInput {
  /** "" is the default session. */
  readonly sessionId: string;
  /** At most 200 characters. */
  readonly label?: string;
  /** 1 to 128 printable ASCII characters; a second call with it gets the answer of the first. */
  readonly idempotencyKey?: string;
  /** Ends the call; nothing has happened then, unless it was too late. */
  readonly signal?: AbortSignal;
}

export interface CreatedCheckpoint extends SessionReference {
  readonly checkpoint: Checkpoint;
  /** "" or why no files were kept. */
  readonly warning: string;
  readonly isReplay: boolean;
}

export interface ListCheckpointsInput extends PageRequest {
  /** "" is the default session. */
  readonly sessionId: string;
}

export interface CheckpointPage extends SessionReference {
  /** Newest first. */
  readonly checkpoints: readonly Checkpoint[];
  /** "" after the last page. */
  readonly nextPageToken: string;
}

/** Where a client wants to return to. */
export interface RevertInput extends Omit<CreateCheckpointInput, "label"> {
  /** An id, or `latest` for the newest. */
  readonly checkpointId: string;
  /** Default `both`. */
  readonly scope?: RevertScope;
  /** Only report. */
  readonly isDryRun?: boolean;
}

/** What has changed, or would. */
export interface RevertReport {
  /** Relative to the session's folder, written or with another mode. */
  readonly filesWritten: readonly string[];
  readonly filesDeleted: readonly string[];
  /** Messages that the model does not see any more. */
  readonly messagesRolledBack: number;
  /** Undefined on a dry run. */
  readonly undoCheckpointId: string | undefined;
  /** "" or what could not be brought back, and why. */
  readonly warning: string;
}

export interface RevertedCheckpoint extends RevertReport, SessionReference {
  readonly isReplay: boolean;
}

/** Checkpoints as clients use them. Errors are CrabcodeErrors. */
export interface CheckpointCalls {
  /** Waits for a turn that runs. Loads the session. */
  create(input: CreateCheckpointInput): Promise<CreatedCheckpoint>;
  /** Loads nothing. */
  list(input: ListCheckpointsInput): Promise<CheckpointPage>;
  /** Waits for a turn that runs. Loads the session. */
  revert(input: RevertInput): Promise<RevertedCheckpoint>;
}
