import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import {
  CheckpointSchema,
  CheckpointService,
  CreateCheckpointResponseSchema,
  ListCheckpointsResponseSchema,
  RevertScope,
  RevertToCheckpointResponseSchema,
} from "@trivium/proto/crabcode-checkpoints";
import { describe, expect, it } from "vitest";
import { CrabcodeClient } from "./crabcode-client.ts";

describe("checkpoints of a client", () => {
  it("are made with a key of their own and come with dates", async () => {
    const { checkpoints, seen } = connected();
    expect(await checkpoints.create({ sessionId: "s1", label: "l" })).toEqual({
      checkpoint: {
        checkpointId: "0123456789ab",
        label: "l",
        createdAt: new Date("2026-01-01T00:00:00.250Z"),
        messageId: "m",
        messageIndex: 0,
        snapshotId: undefined,
        fileCount: 0,
        isAutomatic: false,
      },
      warning: "no files",
    });
    expect(seen[0]?.request).toMatchObject({ sessionId: "s1", label: "l" });
    expect(seen[0]?.header.get("idempotency-key")).toMatch(/^[0-9a-f]{32}$/);
  });

  it("are listed over all pages", async () => {
    const { checkpoints, seen } = connected();
    const page = await checkpoints.list({ pageToken: "next" });
    expect(page).toMatchObject({ checkpoints: [{ label: "a" }], nextPageToken: "" });
    const labels: string[] = [];
    for await (const { label } of checkpoints.all({ pageSize: 1 })) labels.push(label);
    expect(labels).toEqual(["b", "a"]);
    expect(seen.slice(1).map(({ request }) => request)).toMatchObject([
      { pageSize: 1, pageToken: "" },
      { pageSize: 1, pageToken: "next" },
    ]);
  });

  it("are returned to, in parts when asked for", async () => {
    const { checkpoints, seen } = connected();
    expect(await checkpoints.revert("latest", { scope: "files", isDryRun: true })).toEqual({
      filesWritten: ["a"],
      filesDeleted: ["b"],
      messagesRolledBack: 3,
      undoCheckpointId: undefined,
      warning: "",
    });
    expect(seen[0]?.request).toMatchObject({
      checkpointId: "latest",
      scope: RevertScope.FILES,
      dryRun: true,
    });
    await checkpoints.revert("latest");
    expect(seen[1]?.request).toMatchObject({ scope: RevertScope.BOTH, dryRun: false });
  });

  it("refuse with a kind", async () => {
    const { checkpoints } = connected();
    await expect(checkpoints.revert("unknown")).rejects.toMatchObject({ kind: "notFound" });
  });
});

function connected() {
  const seen: { request: unknown; header: Headers }[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(CheckpointService, {
      createCheckpoint(request, { requestHeader }) {
        seen.push({ request, header: requestHeader });
        const checkpoint = create(CheckpointSchema, {
          checkpointId: "0123456789ab",
          label: request.label,
          createdAt: timestampFromMs(Date.UTC(2026, 0, 1) + 250),
          messageId: "m",
        });
        return create(CreateCheckpointResponseSchema, { checkpoint, warning: "no files" });
      },
      listCheckpoints(request, { requestHeader }) {
        seen.push({ request, header: requestHeader });
        const isFirst = request.pageToken === "";
        return create(ListCheckpointsResponseSchema, {
          checkpoints: [create(CheckpointSchema, { label: isFirst ? "b" : "a" })],
          nextPageToken: isFirst ? "next" : "",
        });
      },
      revertToCheckpoint(request, { requestHeader }) {
        if (request.checkpointId === "unknown") throw new ConnectError("no such checkpoint", Code.NotFound);
        seen.push({ request, header: requestHeader });
        return create(RevertToCheckpointResponseSchema, {
          filesWritten: ["a"],
          filesDeleted: ["b"],
          messagesRolledBack: 3,
        });
      },
    });
  });
  const { checkpoints } = new CrabcodeClient(transport);
  return { checkpoints, seen };
}
