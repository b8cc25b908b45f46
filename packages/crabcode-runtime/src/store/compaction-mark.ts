import { z } from "zod";
import type { Message } from "../conversation/message.ts";
import { storedContent, storedOrigin, toMessage } from "./stored-message.ts";

/** From here on the model is sent these messages instead of what it was sent before. */
export interface CompactionMark {
  readonly type: "compaction";
  /** RFC 3339, UTC. */
  readonly timestamp: string;
  readonly trigger: "auto" | "overflow" | "manual";
  /** In order. Without `message`: the one of this UUID as it was sent before. */
  readonly messages: readonly { readonly uuid: string; readonly message?: Message | undefined }[];
}

/** A compaction as it is read. */
export const compactionLine: z.ZodType<CompactionMark> = z
  .object({
    type: z.literal("compaction"),
    timestamp: z.string(),
    trigger: z.enum(["auto", "overflow", "manual"]),
    messages: z.array(
      z.union([
        z.object({
          uuid: z.string(),
          role: z.enum(["user", "assistant"]),
          content: storedContent,
          origin: storedOrigin,
        }),
        // Strict: a message that cannot be read is not one without a message.
        z.strictObject({ uuid: z.string() }),
      ]),
    ),
  })
  .transform(({ messages, ...mark }) => ({
    ...mark,
    messages: messages.map((item) =>
      "role" in item ? { uuid: item.uuid, message: toMessage(item.role, item) } : { uuid: item.uuid },
    ),
  }));

/** A compaction as it is written. */
export function compactionToLine({ messages, ...mark }: CompactionMark): Readonly<Record<string, unknown>> {
  return { ...mark, messages: messages.map(({ uuid, message }) => ({ uuid, ...message })) };
}
