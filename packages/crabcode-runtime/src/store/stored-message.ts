import { z } from "zod";
import type { Message, MessageBlock, MessageOrigin } from "../conversation/message.ts";

const block = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({
    type: z.literal("thinking"),
    thinking: z.string(),
    provider_meta: z.record(z.string(), z.unknown()).optional(),
  }),
  z.object({
    type: z.literal("tool_use"),
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
    provider_meta: z.record(z.string(), z.unknown()).optional(),
  }),
  z.object({
    type: z.literal("tool_result"),
    tool_use_id: z.string(),
    content: z.string(),
    is_error: z.boolean().default(false),
  }),
]);

/** The blocks of a stored message. Older files hold plain text. */
export const storedContent: z.ZodType<MessageBlock[]> = z.union([
  z.string().transform((text) => [{ type: "text" as const, text }]),
  z.array(block).transform((blocks) => blocks.map(toBlock)),
]);

export const storedOrigin: z.ZodType<MessageOrigin | undefined> = z
  .enum(["partial", "task-notification", "compact-summary", "skill"])
  .optional();

/** The message of a line that was read. */
export function toMessage(
  role: Message["role"],
  { content, origin }: { readonly content: MessageBlock[]; readonly origin?: MessageOrigin | undefined },
): Message {
  return { role, content, ...(origin !== undefined && { origin }) };
}

/** An optional key that is absent in the file is absent in the block. */
function toBlock(stored: z.infer<typeof block>): MessageBlock {
  if (stored.type === "text" || stored.type === "tool_result") return stored;
  const { provider_meta, ...rest } = stored;
  return provider_meta === undefined ? rest : { ...rest, provider_meta };
}
