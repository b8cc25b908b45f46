import { appendFile, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import type { Message } from "../conversation/message.ts";
import { TranscriptFile, type TranscriptRecord } from "./transcript.ts";
import type { TranscriptMark } from "./transcript-mark.ts";

const entry = (uuid: string, message: Message) => ({
  uuid,
  timestamp: "2026-01-01T00:00:00.000Z",
  message,
  operationId: "op",
  eventSeq: 3,
});
const text = (value: string): Message => ({ role: "user", content: [{ type: "text", text: value }] });
const uuidsOf = (records: readonly TranscriptRecord[]): string[] =>
  records.flatMap((record) => (record.kind === "message" ? [record.entry.uuid] : []));

describe("TranscriptFile", () => {
  it("gives back what was appended", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "deep", "s.jsonl");
    const answer: Message = {
      role: "assistant",
      origin: "partial",
      content: [
        { type: "thinking", thinking: "hm", provider_meta: { signature: "s" } },
        { type: "tool_use", id: "c1", name: "Read", input: { file_path: "a" } },
      ],
    };
    const written = [entry("1", text("a")), entry("2", answer)];
    const file = new TranscriptFile(path);
    for (const one of written) await file.append(one);
    await file.sync();
    await file.close();
    expect(await new TranscriptFile(path).read(silentLogger)).toEqual(
      written.map((one) => ({ kind: "message", entry: one })),
    );
  });

  it("skips broken, blank, repeated and foreign lines and goes on after half a line", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "s.jsonl");
    const first = new TranscriptFile(path);
    await first.append(entry("1", text("a")));
    await first.close();
    const line = await readFile(path, "utf8");
    await appendFile(
      path,
      `${line}\n{"type":"session_meta","id":"s"}\n{"type":"user","uuid":5}\n{"type":"us`,
    );
    const second = new TranscriptFile(path);
    expect(uuidsOf(await second.read(silentLogger))).toEqual(["1"]);
    await second.append(entry("2", text("b")));
    await second.close();
    expect(uuidsOf(await new TranscriptFile(path).read(silentLogger))).toEqual(["1", "2"]);
  });

  it("goes on behind half a line that a failed write left", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "s.jsonl");
    await symlink("/dev/full", path);
    const file = new TranscriptFile(path);
    await expect(file.append(entry("1", text("a")))).rejects.toMatchObject({ code: "ENOSPC" });
    await rm(path);
    await writeFile(path, '{"type":"us');
    await file.append(entry("2", text("b")));
    await file.close();
    expect(uuidsOf(await new TranscriptFile(path).read(silentLogger))).toEqual(["2"]);
  });

  it("counts marks that it cannot read among the broken lines", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "s.jsonl");
    const summary = { uuid: "s", role: "user", content: [{ type: "later" }] };
    const compaction = { type: "compaction", timestamp: "t", trigger: "auto", messages: [summary] };
    const lines = [compaction, { type: "rollback", checkpoint_id: "c" }, { type: "other" }];
    await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const warned: unknown[] = [];
    const logger = { ...silentLogger, warn: (fields: unknown) => void warned.push(fields) };
    expect(await new TranscriptFile(path).read(logger)).toEqual([]);
    expect(warned).toEqual([{ path, brokenCount: 2 }]);
  });

  it("reads the plain text content of older files", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "s.jsonl");
    await writeFile(path, '{"type":"user","uuid":"1","timestamp":"t","content":"hi"}\n');
    const [read] = await new TranscriptFile(path).read(silentLogger);
    expect(read).toMatchObject({ kind: "message", entry: { message: text("hi") } });
  });

  it("gives back marks in their place among the messages", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "s.jsonl");
    const checkpoint: TranscriptMark = {
      type: "checkpoint",
      checkpointId: "c1",
      timestamp: "2026-01-01T00:00:00.000Z",
      messageUuid: "1",
      messageIndex: 0,
      label: "before",
      snapshotId: "abc",
    };
    const rollback: TranscriptMark = {
      type: "rollback",
      checkpointId: "c1",
      timestamp: "2026-01-01T00:00:00.000Z",
      rollbackToIndex: 0,
      keepFromIndex: 2,
    };
    const file = new TranscriptFile(path);
    await file.append(entry("1", text("a")));
    await file.appendMark(checkpoint);
    await file.append(entry("2", text("b")));
    await file.appendMark(rollback);
    await file.close();
    expect(await new TranscriptFile(path).read(silentLogger)).toEqual([
      { kind: "message", entry: entry("1", text("a")) },
      { kind: "mark", mark: checkpoint },
      { kind: "message", entry: entry("2", text("b")) },
      { kind: "mark", mark: rollback },
    ]);
  });

  it("is empty without a file", async () => {
    expect(await new TranscriptFile("/nonexistent/s.jsonl").read(silentLogger)).toEqual([]);
  });
});
