import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Code, createClient } from "@connectrpc/connect";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { CheckpointService, RevertScope } from "@trivium/proto/crabcode-checkpoints";
import { SessionService } from "@trivium/proto/crabcode-sessions";
import { expect } from "vitest";
import { readAll, statusOf } from "../take.ts";
import { type Scenario, useServer, verifies } from "../verifies.ts";

useServer();

verifies("create-checkpoint:kept", async (scenario) => {
  const { checkpoints, sessionId, folder } = await openSession(scenario);
  await writeFile(join(folder, "a.txt"), "first\r\n");
  let header = new Headers();
  const onHeader = (received: Headers): void => {
    header = received;
  };
  const { checkpoint, warning } = await checkpoints.createCheckpoint(
    { sessionId, label: "start" },
    { onHeader },
  );
  expect(warning).toBe("");
  expect(checkpoint).toMatchObject({ label: "start", messageIndex: -1, fileCount: 1, automatic: false });
  expect(checkpoint?.checkpointId).toMatch(/^[0-9a-f]{12}$/);
  expect(header.get("crabcode-session-id")).toBe(sessionId);
});

verifies("create-checkpoint:idempotent", async (scenario) => {
  const { checkpoints, sessionId } = await openSession(scenario);
  const call = { headers: { "idempotency-key": "k" } };
  const first = await checkpoints.createCheckpoint({ sessionId }, call);
  expect(await checkpoints.createCheckpoint({ sessionId }, call)).toEqual(first);
  expect(await statusOf(checkpoints.createCheckpoint({ sessionId, label: "x" }, call))).toMatchObject({
    code: Code.InvalidArgument,
  });
  expect((await checkpoints.listCheckpoints({ sessionId })).checkpoints).toHaveLength(1);
});

verifies("list-checkpoints:pages", async (scenario) => {
  const { checkpoints, sessionId } = await openSession(scenario);
  for (const label of ["a", "b", "c"]) await checkpoints.createCheckpoint({ sessionId, label });
  const first = await checkpoints.listCheckpoints({ sessionId, pageSize: 2 });
  expect(first.checkpoints.map(({ label }) => label)).toEqual(["c", "b"]);
  const pageToken = first.nextPageToken;
  const last = await checkpoints.listCheckpoints({ sessionId, pageSize: 2, pageToken });
  expect(last.checkpoints.map(({ label }) => label)).toEqual(["a"]);
  expect(last.nextPageToken).toBe("");
  expect(await statusOf(checkpoints.listCheckpoints({ pageToken }))).toMatchObject({
    code: Code.InvalidArgument,
  });
});

verifies("revert-to-checkpoint:undo", async (scenario) => {
  const { checkpoints, sessionId, folder } = await openSession(scenario);
  const conversation = createClient(CrabCodeService, scenario.transport);
  const bytes = Buffer.from("first\r\n\u0000\n");
  await writeFile(join(folder, "a.txt"), bytes);
  const { checkpoint } = await checkpoints.createCheckpoint({ sessionId });
  await readAll(conversation.sendMessage({ sessionId, text: "help" }));
  await writeFile(join(folder, "a.txt"), "second");
  await writeFile(join(folder, "b.txt"), "new");
  const { checkpointId = "" } = checkpoint ?? {};
  const dry = await checkpoints.revertToCheckpoint({ sessionId, checkpointId, dryRun: true });
  const reverted = await checkpoints.revertToCheckpoint({ sessionId, checkpointId });
  expect(reverted).toMatchObject({
    filesWritten: ["a.txt"],
    filesDeleted: ["b.txt"],
    messagesRolledBack: 2,
    warning: "",
  });
  expect(dry).toEqual({ ...reverted, undoCheckpointId: undefined });
  expect(await readFile(join(folder, "a.txt"))).toEqual(bytes);
  await expect(stat(join(folder, "b.txt"))).rejects.toThrow("ENOENT");
  const { undoCheckpointId = "" } = reverted;
  await checkpoints.revertToCheckpoint({
    sessionId,
    checkpointId: undoCheckpointId,
    scope: RevertScope.FILES,
  });
  expect(await readFile(join(folder, "a.txt"), "utf8")).toBe("second");
  expect(await readFile(join(folder, "b.txt"), "utf8")).toBe("new");
});

verifies("revert-to-checkpoint:refusals", async (scenario) => {
  const { checkpoints, sessionId } = await openSession(scenario);
  const nowhere = { sessionId: `${sessionId}-no`, checkpointId: "latest" };
  expect(await statusOf(checkpoints.revertToCheckpoint(nowhere))).toMatchObject({ code: Code.NotFound });
  expect(await statusOf(checkpoints.listCheckpoints(nowhere))).toMatchObject({ code: Code.NotFound });
  const unknown = { sessionId, checkpointId: "0123456789ab" };
  expect(await statusOf(checkpoints.revertToCheckpoint(unknown))).toMatchObject({ code: Code.NotFound });
  const scope = 9 as RevertScope;
  expect(await statusOf(checkpoints.revertToCheckpoint({ ...unknown, scope }))).toMatchObject({
    code: Code.InvalidArgument,
  });
});

/** A session in a folder of its own. */
async function openSession({ transport, server, uniqueName: sessionId }: Scenario) {
  const folder = join(server.workspace, sessionId);
  await mkdir(folder);
  await createClient(SessionService, transport).createSession({ sessionId, cwd: folder });
  return { checkpoints: createClient(CheckpointService, transport), sessionId, folder };
}
