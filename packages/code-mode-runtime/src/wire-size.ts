import type { CellOutput } from "./engine/cell-engine.ts";

/** Bytes of a length-delimited field with a number below 16: tag, length, content. */
export function fieldBytes(contentBytes: number): number {
  let lengthBytes = 1;
  for (let rest = contentBytes; rest >= 128; rest = Math.floor(rest / 128)) lengthBytes++;
  return 1 + lengthBytes + contentBytes;
}

/** Bytes of a string field; an empty one is not written. */
export function textFieldBytes(text: string): number {
  return text === "" ? 0 : fieldBytes(utf8Bytes(text));
}

/** Bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text);
}

/** Bytes that one item adds to an encoded ExecutionOutcome. */
export function itemBytes(item: CellOutput): number {
  const inner = item.type === "text" ? textFieldBytes(item.text) : textFieldBytes(item.url);
  const detailBytes = item.type === "image" && item.detail !== undefined ? 2 : 0;
  return fieldBytes(fieldBytes(inner + detailBytes));
}

/**
 * Bytes of an encoded ExecutionOutcome, at most. The host's own duration field takes up to eleven of them.
 * Contract: code_mode.proto, ExecutionOutcome.
 */
export function outcomeBytes(
  cellId: string,
  items: readonly CellOutput[],
  errorText: string | undefined,
): number {
  let total = textFieldBytes(cellId) + 11;
  for (const item of items) total += itemBytes(item);
  return total + fieldBytes(errorText === undefined ? 0 : fieldBytes(utf8Bytes(errorText)));
}
