import type { Clock, IdSource } from "@trivium/core";
import type { CrabcodeSessionEvent, RevertEvent } from "@trivium/proto/crabcode-events";
import type { Conversation } from "../conversation/conversation.ts";
import { CrabcodeError } from "../crabcode-error.ts";
import type { ToolboxPort } from "../ports/toolbox-port.ts";
import type { RollbackMark } from "../store/transcript-mark.ts";
import type { Checkpoint, RevertReport, RevertScope } from "./checkpoint.ts";
import type { CheckpointStore } from "./checkpoint-store.ts";
import { type FilePlan, planFiles, restorePlanned } from "./file-plan.ts";
import type { Snapshots, TakenSnapshot } from "./files/snapshots.ts";

/** Snapshots older than that are removed; their checkpoints stay. */
const SNAPSHOT_RETENTION_MS = 7 * 24 * 3_600_000;
/** Names of files in an event. */
const MAX_NAMED_FILES = 500;

/** What all sessions of a server share. */
export interface CheckpointEnvironment {
  readonly store: CheckpointStore;
  readonly snapshots: Snapshots;
  /** Ids of checkpoints that are being returned to. */
  readonly inUse: Set<string>;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** What of a session its checkpoints work with. */
export interface CheckpointHost {
  readonly sessionId: string;
  readonly cwd: string;
  readonly conversation: Conversation;
  readonly activeAgentCount: () => number;
  readonly toolbox: () => Promise<ToolboxPort>;
}

/** How a checkpoint is asked for, by a client or a tool. */
export interface CheckpointRequest {
  /** Publishes an event, at once; resolves when it was written, if anybody waits for it. */
  readonly publish: (event: CrabcodeSessionEvent) => Promise<unknown>;
  readonly signal: AbortSignal;
}

/** A revert as it is asked for. */
export interface RevertRequest extends CheckpointRequest {
  /** An id, or `latest`. */
  readonly checkpointId: string;
  readonly scope: RevertScope;
  readonly isDryRun: boolean;
  /** The turn whose tool reverts. Its messages stay: it is in the middle of them. */
  readonly turnId?: string;
}

/** The checkpoints of one session. Whoever calls holds the turn lock, or is the turn. */
export class SessionCheckpoints {
  readonly #environment: CheckpointEnvironment;
  readonly #host: CheckpointHost;

  constructor(environment: CheckpointEnvironment, host: CheckpointHost) {
    this.#environment = environment;
    this.#host = host;
  }

  /** Keeps the present state. Rejects with the reason of the signal when nothing was kept. */
  async create({ label, ...request }: CheckpointRequest & { readonly label: string }): Promise<{
    readonly checkpoint: Checkpoint;
    readonly warning: string;
  }> {
    const { snapshots, ids } = this.#environment;
    const checkpointId = ids.hex(6);
    const taken = await snapshots.take(this.#host, { checkpointId }, request.signal);
    if (request.signal.aborted) await snapshots.forget(this.#host, [checkpointId]);
    request.signal.throwIfAborted();
    const checkpoint = await this.#record({ checkpointId, label, isAutomatic: false }, taken, {
      toolName: "Checkpoint",
      ...request,
    });
    await this.#expire();
    return { checkpoint, warning: taken.kind === "none" ? taken.warning : "" };
  }

  /** @throws CrabcodeError CHECKPOINT_NOT_FOUND, AGENTS_RUNNING, NO_SNAPSHOT; then nothing has changed */
  async revert(request: RevertRequest): Promise<RevertReport> {
    const { sessionId, activeAgentCount } = this.#host;
    const { store, inUse } = this.#environment;
    const target = store.find(sessionId, request.checkpointId);
    if (target === undefined) {
      throw new CrabcodeError("CHECKPOINT_NOT_FOUND", "the session has no such checkpoint", { sessionId });
    }
    if (activeAgentCount() > 0) {
      throw new CrabcodeError("AGENTS_RUNNING", "an agent of the session runs or is queued", { sessionId });
    }
    inUse.add(target.checkpointId);
    try {
      return await this.#revertTo(target, request);
    } finally {
      inUse.delete(target.checkpointId);
      await this.#expire();
    }
  }

  async #revertTo(target: Checkpoint, request: RevertRequest): Promise<RevertReport> {
    const { conversation } = this.#host;
    const { snapshots, ids } = this.#environment;
    const { scope, isDryRun, signal, publish } = request;
    const undoId = ids.hex(6);
    const plan = await this.#plan(target, { scope, signal, ...(!isDryRun && { undoId }) });
    const rollback: RollbackMark = {
      type: "rollback",
      checkpointId: target.checkpointId,
      timestamp: this.#timestamp(),
      rollbackToIndex: target.messageIndex,
      keepFromIndex: this.#firstOf(request.turnId),
    };
    const messagesRolledBack = scope === "files" ? 0 : this.#countRolledBack(rollback);
    if (isDryRun) {
      const { written: filesWritten, deleted: filesDeleted, warning } = plan;
      return { filesWritten, filesDeleted, messagesRolledBack, undoCheckpointId: undefined, warning };
    }
    if (signal.aborted) await snapshots.forget(this.#host, [undoId]);
    signal.throwIfAborted();
    // From here on it is carried out to its end.
    const undo = {
      checkpointId: undoId,
      label: `before revert to ${target.checkpointId}`,
      isAutomatic: true,
    };
    await this.#record(undo, plan.present, { toolName: "Revert", publish });
    if (scope !== "files") {
      await conversation.appendMark(rollback);
      await conversation.sync();
    }
    const restored = await restorePlanned(this.#host, { snapshots, ids }, plan);
    const revert: RevertEvent = {
      type: "revert",
      snapshot_id: target.snapshotId ?? "",
      files_restored: [...restored.written, ...restored.deleted],
    };
    const told = await Promise.allSettled([revert, ...restored.events].map((event) => publish(event)));
    const problems = [
      ...(restored.problems.length === 0 ? [] : [`not brought back: ${restored.problems.join("; ")}`]),
      // An error would say that nothing has changed.
      ...(told.some(({ status }) => status === "rejected") ? ["its events could not be written"] : []),
    ];
    return {
      filesWritten: restored.written,
      filesDeleted: restored.deleted,
      messagesRolledBack,
      undoCheckpointId: undoId,
      warning: [plan.warning, ...problems].filter((text) => text !== "").join("; "),
    };
  }

  /** What would change about the files. A snapshot of the present state is left under the undo id. */
  async #plan(
    target: Checkpoint,
    { scope, undoId, signal }: { scope: RevertScope; undoId?: string; signal: AbortSignal },
  ): Promise<FilePlan> {
    const { snapshots } = this.#environment;
    try {
      const plan = await planFiles(this.#host, snapshots, {
        snapshotId: scope === "conversation" ? undefined : target.snapshotId,
        undoId,
        signal,
      });
      if (scope === "files" && plan.toolbox === undefined) {
        throw new CrabcodeError("NO_SNAPSHOT", plan.warning, { sessionId: this.#host.sessionId });
      }
      return scope === "conversation" ? { ...plan, warning: "" } : plan;
    } catch (cause) {
      if (undoId !== undefined) await snapshots.forget(this.#host, [undoId]);
      throw cause;
    }
  }

  async #record(
    { checkpointId, label, isAutomatic }: Pick<Checkpoint, "checkpointId" | "label" | "isAutomatic">,
    taken: TakenSnapshot,
    { toolName, publish }: Pick<CheckpointRequest, "publish"> & { toolName: string },
  ): Promise<Checkpoint> {
    const { conversation } = this.#host;
    const { store, clock } = this.#environment;
    const snapshotId = taken.kind === "taken" ? taken.snapshotId : undefined;
    const files = taken.kind === "taken" ? taken.files : [];
    const { messageId, messageIndex } = this.#position();
    const checkpoint: Checkpoint = {
      checkpointId,
      label,
      createdAtMs: clock.now(),
      messageId,
      messageIndex,
      snapshotId,
      fileCount: files.length,
      isAutomatic,
    };
    await conversation.appendMark({
      type: "checkpoint",
      checkpointId,
      timestamp: this.#timestamp(),
      messageUuid: messageId,
      messageIndex,
      label,
      snapshotId,
    });
    await conversation.sync();
    store.insert(this.#host, checkpoint);
    if (snapshotId !== undefined) {
      await publish({
        type: "snapshot",
        snapshot_id: snapshotId,
        tool_name: toolName,
        files: files.slice(0, MAX_NAMED_FILES),
      });
    }
    return checkpoint;
  }

  /** The last message after which the history is whole: a call without its result does not belong to it. */
  #position(): { messageId: string; messageIndex: number } {
    const { conversation } = this.#host;
    const { items } = conversation.projection;
    const whole = conversation.openCalls.length > 0 ? items.slice(0, -1) : items;
    // What a compaction made has no place in the transcript.
    const messageIndex = whole.reduce((highest, { index }) => Math.max(highest, index), -1);
    return { messageId: whole.at(-1)?.uuid ?? "", messageIndex };
  }

  #firstOf(turnId: string | undefined): number | undefined {
    if (turnId === undefined) return undefined;
    const index = this.#host.conversation.entries.findIndex(({ operationId }) => operationId === turnId);
    return index < 0 ? undefined : index;
  }

  #countRolledBack(rollback: RollbackMark): number {
    const { projection } = this.#host.conversation;
    const kept = new Set(projection.after(rollback).map(({ uuid }) => uuid));
    // What a compaction made is no message of its own.
    return projection.items.filter(({ uuid, index }) => index >= 0 && !kept.has(uuid)).length;
  }

  async #expire(): Promise<void> {
    await removeExpired(this.#environment, this.#environment.clock.now());
  }

  #timestamp(): string {
    return new Date(this.#environment.clock.now()).toISOString();
  }
}

/** Frees the snapshots of all sessions that are older than 7 days. */
export async function removeExpired(
  { store, snapshots, inUse }: Pick<CheckpointEnvironment, "store" | "snapshots" | "inUse">,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  for (const { sessionId, cwd, checkpointIds } of store.expireBefore(nowMs - SNAPSHOT_RETENTION_MS, inUse)) {
    await snapshots.forget({ sessionId, cwd }, checkpointIds, signal);
  }
}
