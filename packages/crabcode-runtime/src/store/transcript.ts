import { type FileHandle, mkdir, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Logger } from "@trivium/core";
import { z } from "zod";
import type { Message } from "../conversation/message.ts";
import { storedContent, storedOrigin, toMessage } from "./stored-message.ts";
import { markToLine, parseMark, type TranscriptMark } from "./transcript-mark.ts";

/** One message as it is stored. */
export interface TranscriptEntry {
  readonly uuid: string;
  /** RFC 3339, UTC. */
  readonly timestamp: string;
  readonly message: Message;
  /** The turn it was made in. */
  readonly operationId: string | undefined;
  /** Last event published before it was written: what streamed later is not part of it. */
  readonly eventSeq: number;
  /** The notification it answers. */
  readonly replyTo?: string | undefined;
}

/** One line of a transcript. */
export type TranscriptRecord =
  | { readonly kind: "message"; readonly entry: TranscriptEntry }
  | { readonly kind: "mark"; readonly mark: TranscriptMark };

/** Port for the messages of one loop, in order, only ever added to. */
export interface Transcript {
  append(entry: TranscriptEntry): Promise<void>;
  appendMark(mark: TranscriptMark): Promise<void>;
  /** What was appended survives a power cut when it resolves. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Keeps nothing; for a runtime without a data folder. */
export const noTranscript: Transcript = {
  append: () => Promise.resolve(),
  appendMark: () => Promise.resolve(),
  sync: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

const line = z.object({
  type: z.enum(["user", "assistant"]),
  uuid: z.string(),
  timestamp: z.string(),
  content: storedContent,
  origin: storedOrigin,
  operation_id: z.string().optional(),
  event_seq: z.number().default(0),
  reply_to_uuid: z.string().optional(),
});

/** A transcript in a JSONL file, one message or mark a line. The file is made with the first of them. */
export class TranscriptFile implements Transcript {
  readonly #path: string;
  #file: FileHandle | undefined;
  #parentUuid: string | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Everything that can be read, in order. Blank, broken and repeated lines, and lines of other kinds, are left out. */
  async read(logger: Logger): Promise<TranscriptRecord[]> {
    const text = await readIfThere(this.#path);
    const records: TranscriptRecord[] = [];
    const uuids = new Set<string>();
    let brokenCount = 0;
    for (const row of text.split("\n")) {
      if (row.trim() === "") continue;
      const record = parseLine(row);
      if (record === "broken") brokenCount++;
      if (record === "broken" || record === undefined) continue;
      if (record.kind === "message") {
        const { uuid } = record.entry;
        if (uuids.has(uuid)) continue;
        uuids.add(uuid);
        this.#parentUuid = uuid;
      }
      records.push(record);
    }
    if (brokenCount > 0) logger.warn({ path: this.#path, brokenCount }, "a transcript has broken lines");
    return records;
  }

  async append({ uuid, timestamp, message, operationId, eventSeq, replyTo }: TranscriptEntry): Promise<void> {
    const row = JSON.stringify({
      type: message.role,
      uuid,
      parent_uuid: this.#parentUuid,
      timestamp,
      content: message.content,
      origin: message.origin,
      operation_id: operationId,
      event_seq: eventSeq,
      reply_to_uuid: replyTo,
    });
    await this.#write(row);
    this.#parentUuid = uuid;
  }

  async appendMark(mark: TranscriptMark): Promise<void> {
    await this.#write(JSON.stringify(markToLine(mark)));
  }

  async sync(): Promise<void> {
    await this.#file?.datasync();
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #write(row: string): Promise<void> {
    const file = (this.#file ??= await this.#open());
    try {
      await file.appendFile(`${row}\n`);
    } catch (cause) {
      // It may have written half a line, which is dealt with when the file is opened.
      this.#file = undefined;
      await file.close();
      throw cause;
    }
  }

  async #open(): Promise<FileHandle> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const file = await open(this.#path, "a+", 0o600);
    try {
      // A process that died while writing may have left half a line.
      const { size } = await file.stat();
      if (size > 0) {
        const last = await file.read(new Uint8Array(1), 0, 1, size - 1);
        if (last.buffer[0] !== 0x0a) await file.appendFile("\n");
      }
    } catch (cause) {
      await file.close();
      throw cause;
    }
    return file;
  }
}

function parseLine(row: string): TranscriptRecord | "broken" | undefined {
  let value: unknown;
  try {
    value = JSON.parse(row);
  } catch {
    return "broken";
  }
  const parsed = line.safeParse(value);
  if (!parsed.success) {
    const mark = parseMark(value);
    if (mark !== undefined) return { kind: "mark", mark };
    return isOurLine(value) ? "broken" : undefined;
  }
  const { type, uuid, timestamp, operation_id, event_seq, reply_to_uuid } = parsed.data;
  const message = toMessage(type, parsed.data);
  const entry = {
    uuid,
    timestamp,
    message,
    operationId: operation_id,
    eventSeq: event_seq,
    replyTo: reply_to_uuid,
  };
  return { kind: "message", entry };
}

function isOurLine(value: unknown): boolean {
  const type = z.enum(["user", "assistant", "checkpoint", "rollback", "compaction"]);
  return z.looseObject({ type }).safeParse(value).success;
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return "";
    throw thrown;
  }
}
