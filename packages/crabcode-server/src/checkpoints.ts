import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type Checkpoint,
  type CheckpointCalls,
  CrabcodeError,
  type RevertScope,
} from "@trivium/crabcode-runtime";
import {
  CheckpointSchema,
  type CreateCheckpointRequest,
  type CreateCheckpointResponse,
  CreateCheckpointResponseSchema,
  type ListCheckpointsRequest,
  type ListCheckpointsResponse,
  ListCheckpointsResponseSchema,
  type RevertToCheckpointRequest,
  type RevertToCheckpointResponse,
  RevertToCheckpointResponseSchema,
  type Checkpoint as WireCheckpoint,
  RevertScope as WireScope,
} from "@trivium/proto/crabcode-checkpoints";
import { metadataKeys } from "./metadata.ts";

type Context = Pick<HandlerContext, "requestHeader" | "responseHeader" | "signal">;

/** CreateCheckpoint: keeps the present state between two turns. */
export async function createCheckpoint(
  checkpoints: Pick<CheckpointCalls, "create">,
  { sessionId, label }: CreateCheckpointRequest,
  context: Context,
): Promise<CreateCheckpointResponse> {
  const created = await checkpoints.create({ sessionId, label, ...callOf(context) });
  answer(context, created);
  return create(CreateCheckpointResponseSchema, {
    checkpoint: toWire(created.checkpoint),
    warning: created.warning,
  });
}

/** ListCheckpoints: one page, newest first. */
export async function listCheckpoints(
  checkpoints: Pick<CheckpointCalls, "list">,
  { sessionId, pageSize, pageToken }: ListCheckpointsRequest,
  { responseHeader }: Pick<Context, "responseHeader">,
): Promise<ListCheckpointsResponse> {
  const page = await checkpoints.list({ sessionId, pageSize, pageToken });
  responseHeader.set(metadataKeys.sessionId, page.sessionId);
  return create(ListCheckpointsResponseSchema, {
    checkpoints: page.checkpoints.map(toWire),
    nextPageToken: page.nextPageToken,
  });
}

/** RevertToCheckpoint: goes back between two turns, or reports what that would change. */
export async function revertToCheckpoint(
  checkpoints: Pick<CheckpointCalls, "revert">,
  { sessionId, checkpointId, scope, dryRun }: RevertToCheckpointRequest,
  context: Context,
): Promise<RevertToCheckpointResponse> {
  const reverted = await checkpoints.revert({
    sessionId,
    checkpointId,
    scope: scopeOf(scope),
    isDryRun: dryRun,
    ...callOf(context),
  });
  answer(context, reverted);
  const { filesWritten, filesDeleted, messagesRolledBack, undoCheckpointId, warning } = reverted;
  return create(RevertToCheckpointResponseSchema, {
    filesWritten: [...filesWritten],
    filesDeleted: [...filesDeleted],
    messagesRolledBack,
    ...(undoCheckpointId !== undefined && { undoCheckpointId }),
    warning,
  });
}

function callOf({ requestHeader, signal }: Context): { signal: AbortSignal; idempotencyKey?: string } {
  const idempotencyKey = requestHeader.get(metadataKeys.idempotencyKey);
  return { signal, ...(idempotencyKey !== null && { idempotencyKey }) };
}

function answer(
  { responseHeader }: Context,
  { sessionId, isReplay }: { sessionId: string; isReplay: boolean },
): void {
  responseHeader.set(metadataKeys.sessionId, sessionId);
  if (isReplay) responseHeader.set(metadataKeys.isReplay, "1");
}

function scopeOf(scope: WireScope): RevertScope {
  switch (scope) {
    case WireScope.UNSPECIFIED:
    case WireScope.BOTH:
      return "both";
    case WireScope.CONVERSATION:
      return "conversation";
    case WireScope.FILES:
      return "files";
    default:
      throw new CrabcodeError("FIELD_INVALID", "scope has no such value", { field: "scope" });
  }
}

function toWire(checkpoint: Checkpoint): WireCheckpoint {
  const { checkpointId, label, createdAtMs, messageId, messageIndex, snapshotId, fileCount } = checkpoint;
  return create(CheckpointSchema, {
    checkpointId,
    label,
    createdAt: timestampFromMs(createdAtMs),
    messageId,
    messageIndex,
    fileCount,
    automatic: checkpoint.isAutomatic,
    ...(snapshotId !== undefined && { snapshotId }),
  });
}
