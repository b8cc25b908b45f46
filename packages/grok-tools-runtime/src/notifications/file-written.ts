import { cutToBytes } from "../cut-bytes.ts";
import type { TouchedFile } from "../session-resource.ts";
import type { ToolSettings } from "../tool-settings.ts";
import type { ToolNotification } from "./tool-notification.ts";

/** Bytes of each side that travel. */
const MAX_SIDE_BYTES = 256 * 1024;

/** The notification about a write or a deletion; undefined for other access and for writes without content. */
export function toFileWritten(
  { access, path, callId, content }: TouchedFile,
  mode: ToolSettings["fileWrittenContent"],
): ToolNotification | undefined {
  if ((access !== "write" && access !== "delete") || content === undefined) return undefined;
  const cap = mode === "full" ? MAX_SIDE_BYTES : 0;
  const after = cutToBytes(content.after, cap);
  const before = content.before === null ? null : cutToBytes(content.before, cap);
  const isCut = after !== content.after || before !== content.before;
  return {
    type: "FileWritten",
    tool_call_id: callId,
    absolute_path: path,
    content: after,
    previous_content: before,
    is_new_file: access === "write" && content.before === null,
    ...(isCut && { content_truncated: true }),
  };
}
