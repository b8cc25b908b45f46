import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import type { Message } from "../conversation/message.ts";
import { TranscriptFile } from "./transcript.ts";

const entry = (uuid: string, message: Message) => ({
  uuid,
  timestamp: "2026-01-01T00:00:00.000Z",
  message,
  operationId: "op",
  eventSeq: 3,
});
const text = (value: string): Message => ({ role: "user", content: [{ type: "text", text: value }] });

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
    expect(await new TranscriptFile(path).read(silentLogger)).toEqual(written);
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
    expect((await second.read(silentLogger)).map(({ uuid }) => uuid)).toEqual(["1"]);
    await second.append(entry("2", text("b")));
    await second.close();
    expect((await new TranscriptFile(path).read(silentLogger)).map(({ uuid }) => uuid)).toEqual(["1", "2"]);
  });

  it("reads the plain text content of older files", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "s.jsonl");
    await writeFile(path, '{"type":"user","uuid":"1","timestamp":"t","content":"hi"}\n');
    const [read] = await new TranscriptFile(path).read(silentLogger);
    expect(read?.message).toEqual(text("hi"));
  });

  it("is empty without a file", async () => {
    expect(await new TranscriptFile("/nonexistent/s.jsonl").read(silentLogger)).toEqual([]);
  });
});
