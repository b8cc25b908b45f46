import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { MessageOrigin, SessionService } from "@trivium/proto/crabcode-sessions";
import { expect } from "vitest";
import { readAll } from "../take.ts";
import { useServer, verifies } from "../verifies.ts";

useServer();

verifies("send-message:skills", async ({ transport, server, uniqueName: sessionId }) => {
  const sessions = createClient(SessionService, transport);
  const folder = join(server.workspace, sessionId);
  const skill = join(folder, ".crabcode", "skills", "typing");
  await mkdir(skill, { recursive: true });
  await writeFile(join(skill, "SKILL.md"), "---\npathPatterns: '*.ts'\n---\nMind the types.\n");
  await sessions.createSession({ sessionId, cwd: folder });
  const conversation = createClient(CrabCodeService, transport);
  await readAll(conversation.sendMessage({ sessionId, text: "help with app.ts" }));
  const { messages } = await sessions.listMessages({ sessionId });
  expect(messages.map(({ origin }) => origin)).toEqual([
    MessageOrigin.UNSPECIFIED,
    MessageOrigin.SKILL,
    MessageOrigin.UNSPECIFIED,
  ]);
  expect(messages[1]?.blocks[0]?.block).toMatchObject({
    case: "text",
    value: expect.stringContaining("# Skill typing\nMind the types."),
  });
  const { tools } = await sessions.listSessionTools({ sessionId });
  expect(tools.find(({ name }) => name === "Skill")).toMatchObject({
    source: "skill",
    readOnly: true,
    description: expect.stringContaining("- typing: Mind the types."),
  });
});
