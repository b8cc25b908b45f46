import { z } from "zod";
import type { Message, MessageBlock } from "../conversation/message.ts";
import { knownTime } from "../store/known-time.ts";
import type { TranscriptRecord } from "../store/transcript.ts";
import { parseMark } from "../store/transcript-mark.ts";

/** What another program's file says of its session. Times are milliseconds since the Unix epoch. */
export interface UpstreamMeta {
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  readonly firstUserMessage?: string | undefined;
  readonly tokensUsed?: number | undefined;
  readonly gitBranch?: string | undefined;
  readonly createdAtMs?: number | undefined;
  readonly updatedAtMs?: number | undefined;
  readonly isArchived?: boolean | undefined;
}

const text = z
  .string()
  .nullish()
  .catch(undefined)
  .transform((value) => value ?? undefined);
/** Seconds, milliseconds or a date as text. */
const time = z
  .union([z.number(), z.string()])
  .nullish()
  .catch(undefined)
  .transform((value) => {
    // Milliseconds reached this number of digits in 1973; seconds will in the year 5138.
    const atMs = typeof value === "number" ? (value < 1e11 ? value * 1000 : value) : Date.parse(value ?? "");
    return knownTime(Math.round(atMs));
  });

/** A row of the index has the same columns. */
export const upstreamMeta: z.ZodType<UpstreamMeta> = z
  .object({
    title: text,
    cwd: text,
    first_user_message: text,
    tokens_used: z.int().min(0).nullish().catch(undefined),
    git_branch: text,
    created_at: time,
    updated_at: time,
    is_archived: z.union([z.boolean(), z.number()]).nullish().catch(undefined),
  })
  .transform(
    (row): UpstreamMeta => ({
      title: row.title,
      cwd: row.cwd,
      firstUserMessage: row.first_user_message,
      tokensUsed: row.tokens_used ?? undefined,
      gitBranch: row.git_branch,
      createdAtMs: row.created_at,
      updatedAtMs: row.updated_at,
      isArchived:
        row.is_archived === undefined || row.is_archived === null ? undefined : Boolean(row.is_archived),
    }),
  );

const block = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("thinking"), thinking: z.string() }),
  z.object({ type: z.literal("signature"), signature: z.string() }),
  z.object({
    type: z.literal("tool_use"),
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()).catch({}),
  }),
  z.object({
    type: z.literal("tool_result"),
    tool_use_id: z.string(),
    content: z
      .union([
        z.string(),
        z
          .array(z.looseObject({ text: z.string().optional() }))
          .transform((parts) => parts.flatMap((part) => part.text ?? []).join("\n")),
      ])
      .catch(""),
    is_error: z.boolean().catch(false),
  }),
  z.object({ type: z.literal("image"), source: z.looseObject({ media_type: z.string().optional() }) }),
]);

const messageLine = z.object({
  type: z.enum(["user", "assistant"]),
  uuid: z.string().min(1),
  timestamp: time,
  content: z.union([z.string(), z.array(z.unknown())]),
  origin: z.string().nullish(),
  is_compact_summary: z.boolean().nullish(),
  reply_to_uuid: z.string().nullish(),
});

const metaLine = z.looseObject({ type: z.literal("session_meta") });

/** What a line of a transcript of upstream says; undefined for one that says nothing we keep. */
export function parseUpstreamLine(row: string): TranscriptRecord | UpstreamMeta | undefined {
  let value: unknown;
  try {
    value = JSON.parse(row);
  } catch {
    // A process may have died while it wrote.
    return undefined;
  }
  if (metaLine.safeParse(value).success) return upstreamMeta.safeParse(value).data;
  const mark = parseMark(value);
  if (mark !== undefined) return { kind: "mark", mark };
  const line = messageLine.safeParse(value).data;
  if (line === undefined) return undefined;
  const message: Message = { role: line.type, content: toBlocks(line.content), ...toOrigin(line) };
  return {
    kind: "message",
    entry: {
      uuid: line.uuid,
      timestamp: line.timestamp === undefined ? "" : new Date(line.timestamp).toISOString(),
      message,
      operationId: undefined,
      eventSeq: 0,
      replyTo: line.reply_to_uuid ?? undefined,
    },
  };
}

function toOrigin(line: z.infer<typeof messageLine>): Pick<Message, "origin"> {
  if (line.is_compact_summary === true) return { origin: "compact-summary" };
  if (line.origin === "partial" || line.origin === "task-notification") return { origin: line.origin };
  return {};
}

function toBlocks(content: z.infer<typeof messageLine>["content"]): MessageBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  const blocks: MessageBlock[] = [];
  for (const value of content) {
    const parsed = block.safeParse(value).data;
    if (parsed === undefined) continue;
    if (parsed.type === "signature") {
      const last = blocks.at(-1);
      // It belongs to the reasoning before it, without which no provider takes it.
      if (last?.type === "thinking") {
        blocks[blocks.length - 1] = {
          ...last,
          provider_meta: { anthropic: { signature: parsed.signature } },
        };
      }
    } else if (parsed.type === "image") {
      blocks.push({ type: "text", text: `[image: ${parsed.source.media_type ?? "unknown type"}]` });
    } else blocks.push(parsed);
  }
  return blocks;
}
