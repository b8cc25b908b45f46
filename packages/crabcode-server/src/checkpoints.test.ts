import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { type CheckpointCalls, CrabcodeError } from "@trivium/crabcode-runtime";
import { CheckpointService, RevertScope } from "@trivium/proto/crabcode-checkpoints";
import { ErrorInfoSchema } from "@trivium/proto/error-details";
import { describe, expect, it } from "vitest";
import { checkpointService } from "./checkpoint-service.ts";
import { fakeRuntime } from "./testing/fake-runtime.ts";

const kept = {
  checkpointId: "0123456789ab",
  label: "l",
  createdAtMs: 1_500,
  messageId: "m",
  messageIndex: 3,
  snapshotId: "tree",
  fileCount: 2,
  isAutomatic: true,
};

describe("CheckpointService", () => {
  it("makes a checkpoint and says when it was made before", async () => {
    let header = new Headers();
    const client = connected({
      create: async ({ sessionId, label, idempotencyKey }) => {
        expect({ sessionId, label, idempotencyKey }).toEqual({
          sessionId: "",
          label: "l",
          idempotencyKey: "k",
        });
        return { sessionId: "s1", checkpoint: kept, warning: "w", isReplay: true };
      },
    });
    const response = await client.createCheckpoint(
      { label: "l" },
      {
        headers: { "idempotency-key": "k" },
        onHeader: (received) => {
          header = received;
        },
      },
    );
    expect(response).toMatchObject({
      warning: "w",
      checkpoint: { ...withoutTime(kept), automatic: true, createdAt: { seconds: 1n, nanos: 500_000_000 } },
    });
    expect(header.get("crabcode-session-id")).toBe("s1");
    expect(header.get("trivium-idempotent-replay")).toBe("1");
  });

  it("lists a page; what was not kept is absent", async () => {
    const client = connected({
      list: async ({ pageSize, pageToken }) => {
        expect([pageSize, pageToken]).toEqual([2, "t"]);
        return { sessionId: "s1", checkpoints: [{ ...kept, snapshotId: undefined }], nextPageToken: "u" };
      },
    });
    const page = await client.listCheckpoints({ pageSize: 2, pageToken: "t" });
    expect(page.nextPageToken).toBe("u");
    expect(page.checkpoints).toHaveLength(1);
    expect(page.checkpoints[0]?.snapshotId).toBeUndefined();
  });

  it.each([
    [RevertScope.UNSPECIFIED, "both"],
    [RevertScope.BOTH, "both"],
    [RevertScope.CONVERSATION, "conversation"],
    [RevertScope.FILES, "files"],
  ])("reverts with scope %s as %s", async (scope, expected) => {
    const report = { filesWritten: ["a"], filesDeleted: [], messagesRolledBack: 1, warning: "" };
    const client = connected({
      revert: async (input) => {
        expect(input.scope).toBe(expected);
        return { ...report, sessionId: "s1", undoCheckpointId: "undo", isReplay: false };
      },
    });
    expect(await client.revertToCheckpoint({ scope })).toMatchObject({ ...report, undoCheckpointId: "undo" });
  });

  it("refuses with the reasons of our own services", async () => {
    const client = connected({
      revert: () => Promise.reject(new CrabcodeError("AGENTS_RUNNING", "an agent runs", { sessionId: "s1" })),
    });
    const refused = await client.revertToCheckpoint({}).catch((error: unknown) => ConnectError.from(error));
    expect(refused).toMatchObject({ code: Code.FailedPrecondition });
    if (!(refused instanceof ConnectError)) return;
    expect(refused.findDetails(ErrorInfoSchema)).toMatchObject([
      { domain: "trivium", reason: "AGENTS_RUNNING" },
    ]);
    expect(refused.metadata.get("crabcode-session-id")).toBe("s1");
  });
});

function connected(calls: Partial<CheckpointCalls>) {
  const unexpected = () => Promise.reject(new Error("not expected"));
  const checkpoints = { create: unexpected, list: unexpected, revert: unexpected, ...calls };
  const runtime = fakeRuntime({ checkpoints });
  return createClient(CheckpointService, createRouterTransport(checkpointService({ runtime })));
}

function withoutTime({ createdAtMs: _at, isAutomatic: _automatic, ...rest }: typeof kept) {
  return rest;
}
