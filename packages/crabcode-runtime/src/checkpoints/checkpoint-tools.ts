import { z } from "zod";
import { CrabcodeError } from "../crabcode-error.ts";
import { defineTool, failed, type Tool, type ToolContext } from "../tools/tool.ts";
import type { RevertReport } from "./checkpoint.ts";
import type { CheckpointRequest, SessionCheckpoints } from "./session-checkpoints.ts";

const MAX_NAMED_FILES = 50;

/** The tools with which the model of the main conversation keeps a state and goes back to one. */
export function checkpointTools(checkpoints: () => SessionCheckpoints): Tool[] {
  const checkpoint = defineTool({
    name: "Checkpoint",
    description:
      "Keeps the present files of the working directory (without ignored ones) and the place of the conversation, so that Revert can return to them.",
    input: z.object({ label: z.string().max(200).optional().describe("What the state is called.") }),
    isReadOnly: false,
    isConcurrencySafe: false,
    async run({ label = "" }, context) {
      const { checkpoint: made, warning } = await checkpoints().create({ ...requestOf(context), label });
      const files = made.snapshotId === undefined ? "conversation only" : `${made.fileCount} files`;
      const note = warning === "" ? "" : `\nWarning: ${warning}`;
      return { result: `Checkpoint ${made.checkpointId} (${files}).${note}`, isError: false };
    },
  });
  const revert = defineTool({
    name: "Revert",
    description:
      "Returns to a checkpoint: files that changed since are brought back, files that came since are deleted, and messages between the checkpoint and this turn are forgotten. A checkpoint of the present state is made before, so it can be undone.",
    input: z.object({
      checkpoint_id: z.string().min(1).describe("Id of a checkpoint, or latest for the newest."),
    }),
    isReadOnly: false,
    isConcurrencySafe: false,
    async run({ checkpoint_id }, context) {
      try {
        const report = await checkpoints().revert({
          ...requestOf(context),
          checkpointId: checkpoint_id,
          scope: "both",
          isDryRun: false,
          turnId: context.operationId,
        });
        return { result: describe(checkpoint_id, report), isError: false };
      } catch (cause) {
        if (!CrabcodeError.isInstance(cause)) throw cause;
        return failed(`Error: ${cause.message}`);
      }
    },
  });
  return [checkpoint, revert];
}

function requestOf(context: ToolContext): CheckpointRequest {
  return {
    signal: context.signal,
    publish: (event) => {
      context.emit(event);
      return Promise.resolve();
    },
  };
}

function describe(checkpointId: string, report: RevertReport): string {
  const { filesWritten, filesDeleted, messagesRolledBack, undoCheckpointId = "", warning } = report;
  return [
    `Reverted to ${checkpointId === "latest" ? "the newest checkpoint" : `checkpoint ${checkpointId}`}: ${messagesRolledBack} messages rolled back, ${filesWritten.length} files written, ${filesDeleted.length} files deleted.`,
    ...named("written", filesWritten),
    ...named("deleted", filesDeleted),
    ...(warning === "" ? [] : [`Warning: ${warning}`]),
    `The state before is checkpoint ${undoCheckpointId}.`,
  ].join("\n");
}

function named(what: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const more = paths.length > MAX_NAMED_FILES ? `, and ${paths.length - MAX_NAMED_FILES} more` : "";
  return [`${what}: ${paths.slice(0, MAX_NAMED_FILES).join(", ")}${more}`];
}
