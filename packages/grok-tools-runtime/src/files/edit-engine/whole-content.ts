import { asBuffer } from "../text-encoding.ts";
import type { NewContent } from "./edit-engine.ts";
import { parseEditableText, toUnits, unitsToBytes } from "./editable-text.ts";

/**
 * A whole new text for a file. An existing text keeps its encoding and byte order mark; anything else becomes UTF-8.
 * The text must be well-formed; its line endings are written as they are.
 */
export function wholeContent(current: { readonly bytes: Uint8Array } | undefined, text: string): NewContent {
  const old = current === undefined ? undefined : parseEditableText(current.bytes);
  const encoded = old ?? ({ encoding: "utf-8", markBytes: 0 } as const);
  const mark = asBuffer(current?.bytes ?? new Uint8Array()).subarray(0, encoded.markBytes);
  const content = text.startsWith("\ufeff") && mark.length > 0 ? text.slice(1) : text;
  const bytes = Buffer.concat([mark, unitsToBytes(toUnits(content, encoded), encoded)]);
  return { bytes, spans: [[mark.length, current?.bytes.length ?? 0, bytes.length]] };
}
