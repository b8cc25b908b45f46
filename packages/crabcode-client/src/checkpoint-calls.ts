import type { Client } from "@connectrpc/connect";
import type { IdSource } from "@trivium/core";
import {
  type CheckpointService,
  RevertScope,
  type Checkpoint as WireCheckpoint,
} from "@trivium/proto/crabcode-checkpoints";
import { type CallSettings, mapped, withSignal } from "./call-settings.ts";
import type { PageSettings } from "./session-calls.ts";

/** A place in a conversation that one can return to. */
export interface Checkpoint {
  readonly checkpointId: string;
  readonly label: string;
  readonly createdAt: Date;
  /** Last message at that time; "" before the first. */
  readonly messageId: string;
  /** Its position in the transcript, counted from 0; -1 before the first. */
  readonly messageIndex: number;
  /** Undefined: the conversation only. */
  readonly snapshotId: string | undefined;
  /** Files of the snapshot. */
  readonly fileCount: number;
  /** Made by the server before a revert. */
  readonly isAutomatic: boolean;
}

/** Options of {@link CheckpointCalls.create}. */
export interface CreateCheckpointOptions extends CallSettings {
  /** At most 200 characters. */
  readonly label?: string | undefined;
  /** 1 to 128 printable ASCII characters. Default: a key of its own, so that a lost answer can be asked for again. */
  readonly idempotencyKey?: string | undefined;
}

/** Options of {@link CheckpointCalls.list}. */
export interface ListCheckpointsOptions extends PageSettings {
  readonly sessionId?: string | undefined;
}

/** One page of checkpoints, newest first. */
export interface CheckpointList {
  readonly checkpoints: readonly Checkpoint[];
  /** "" at the end. */
  readonly nextPageToken: string;
}

/** Options of {@link CheckpointCalls.revert}. */
export interface RevertOptions extends CallSettings {
  /** Default `both`. */
  readonly scope?: "both" | "conversation" | "files" | undefined;
  /** Only report what would change. */
  readonly isDryRun?: boolean | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** What a revert has changed, or would. */
export interface RevertResult {
  /** Relative to the folder of the session. */
  readonly filesWritten: readonly string[];
  readonly filesDeleted: readonly string[];
  readonly messagesRolledBack: number;
  /** Undefined on a dry run. */
  readonly undoCheckpointId: string | undefined;
  /** "" or what could not be brought back, and why. */
  readonly warning: string;
}

/** What the calls are made with. */
export interface CheckpointCallsDeps {
  readonly client: Client<typeof CheckpointService>;
  readonly ids: IdSource;
}

const scopes = {
  both: RevertScope.BOTH,
  conversation: RevertScope.CONVERSATION,
  files: RevertScope.FILES,
} as const;

/** Places in a conversation to return to, with the files as they were. */
export class CheckpointCalls {
  readonly #deps: CheckpointCallsDeps;

  constructor(deps: CheckpointCallsDeps) {
    this.#deps = deps;
  }

  /** Keeps the present state; waits for a turn that runs. `warning` says why files were not kept, "" when they were. */
  async create(
    options: CreateCheckpointOptions = {},
  ): Promise<{ readonly checkpoint: Checkpoint; readonly warning: string }> {
    const { sessionId = "", label = "" } = options;
    const call = this.#deps.client.createCheckpoint({ sessionId, label }, this.#keyed(options));
    const { checkpoint, warning } = await mapped(call);
    return { checkpoint: toCheckpoint(checkpoint), warning };
  }

  /** One page; {@link CheckpointCalls.all} goes through all of them. */
  async list(options: ListCheckpointsOptions = {}): Promise<CheckpointList> {
    const { sessionId = "", pageSize = 0, pageToken = "", signal } = options;
    const request = { sessionId, pageSize, pageToken };
    const page = await mapped(this.#deps.client.listCheckpoints(request, withSignal(signal)));
    return { checkpoints: page.checkpoints.map(toCheckpoint), nextPageToken: page.nextPageToken };
  }

  /** Every checkpoint, newest first, page by page as they are read. */
  async *all(options: ListCheckpointsOptions = {}): AsyncGenerator<Checkpoint, void, undefined> {
    for (let pageToken = options.pageToken; ; ) {
      const page = await this.list({ ...options, pageToken });
      yield* page.checkpoints;
      pageToken = page.nextPageToken;
      if (pageToken === "") return;
    }
  }

  /**
   * Returns to a checkpoint; waits for a turn that runs.
   *
   * @param checkpointId an id, or `latest`
   */
  async revert(checkpointId: string, options: RevertOptions = {}): Promise<RevertResult> {
    const { sessionId = "", scope = "both", isDryRun = false } = options;
    const request = { sessionId, checkpointId, scope: scopes[scope], dryRun: isDryRun };
    const reverted = await mapped(this.#deps.client.revertToCheckpoint(request, this.#keyed(options)));
    const { filesWritten, filesDeleted, messagesRolledBack, undoCheckpointId, warning } = reverted;
    return { filesWritten, filesDeleted, messagesRolledBack, undoCheckpointId, warning };
  }

  #keyed({ idempotencyKey, signal }: Pick<CreateCheckpointOptions, "idempotencyKey" | "signal">): {
    headers: Record<string, string>;
    signal?: AbortSignal;
  } {
    return {
      headers: { "idempotency-key": idempotencyKey ?? this.#deps.ids.hex(16) },
      ...withSignal(signal),
    };
  }
}

function toCheckpoint(wire: WireCheckpoint | undefined): Checkpoint {
  const { seconds = 0n, nanos = 0 } = wire?.createdAt ?? {};
  return {
    checkpointId: wire?.checkpointId ?? "",
    label: wire?.label ?? "",
    createdAt: new Date(Number(seconds) * 1000 + nanos / 1_000_000),
    messageId: wire?.messageId ?? "",
    messageIndex: wire?.messageIndex ?? -1,
    snapshotId: wire?.snapshotId,
    fileCount: wire?.fileCount ?? 0,
    isAutomatic: wire?.automatic ?? false,
  };
}
