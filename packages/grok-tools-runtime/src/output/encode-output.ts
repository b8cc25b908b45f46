import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { orderedObject } from "../ordered-json.ts";
import type { OutputValue, ToolOutput } from "../tool.ts";

/** How a caller wants the structured output. */
export interface OutputForm {
  /** Form of byte buffers: arrays of integers, or text. */
  readonly byteBuffers: "bytes" | "text";
  /** Leave byte buffers out and use concise texts. */
  readonly isConcise: boolean;
  /** Payload keys with another value under CONCISE. */
  readonly conciseKeys?: Readonly<Record<string, OutputValue>> | undefined;
  /** Payload keys to keep; empty keeps all. */
  readonly includeFields?: readonly string[] | undefined;
  /** Payload keys to leave out, after `includeFields`. */
  readonly excludeFields?: readonly string[] | undefined;
}

/** The union value as JSON. */
export function encodeOutput(output: ToolOutput, form: OutputForm): JsonObject {
  const variant = variantOf(output);
  if (variant === undefined) {
    const { type, ...payload } = output;
    return { type, ...encodePayload(payload, form) };
  }
  const payload = output[variant];
  if (!isPayload(payload)) return { type: output.type, [variant]: toJson(payload, form) };
  return { type: output.type, [variant]: encodePayload(payload, form) };
}

type Entry = [key: string, value: JsonValue];
type Payload = { readonly [key: string]: OutputValue | undefined };

/** Enum-shaped values have one key besides `type`, and variant names begin with a capital. */
function variantOf(output: ToolOutput): string | undefined {
  const keys = Object.keys(output).filter((key) => key !== "type" && output[key] !== undefined);
  const [key] = keys;
  return keys.length === 1 && key !== undefined && /^[A-Z]/.test(key) ? key : undefined;
}

function isList(value: OutputValue): value is readonly OutputValue[] {
  return Array.isArray(value);
}

function isPayload(value: OutputValue | undefined): value is Payload {
  return isJsonObject(value);
}

function encodePayload(payload: Payload, form: OutputForm): JsonObject {
  const shown = form.isConcise ? { ...concise(payload), ...form.conciseKeys } : payload;
  const entries = Object.entries(shown).flatMap(([key, value]): Entry[] => {
    if (value === undefined) return [];
    return value instanceof Uint8Array ? encodeBytes(key, value, form) : [[key, toJson(value, form)]];
  });
  return Object.fromEntries(entries.filter(([key]) => isSelected(key, form)));
}

const TWIN_SUFFIX = "_concise";

/** Each text with a concise twin takes its value; the twins go. */
function concise(payload: Payload): Payload {
  const isTwin = (key: string): boolean =>
    key.endsWith(TWIN_SUFFIX) && Object.hasOwn(payload, key.slice(0, -TWIN_SUFFIX.length));
  const kept = Object.entries(payload).filter(([key]) => !isTwin(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, payload[key + TWIN_SUFFIX] ?? value]));
}

function encodeBytes(key: string, bytes: Uint8Array, { byteBuffers, isConcise }: OutputForm): Entry[] {
  if (isConcise) return [];
  if (byteBuffers === "bytes") return [[key, [...bytes]]];
  try {
    return [[key, new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)]];
  } catch {
    // Not UTF-8: the caller is told that the text is not the bytes.
    return [
      [key, new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)],
      [`${key}_lossy`, true],
    ];
  }
}

function toJson(value: OutputValue | undefined, form: OutputForm): JsonValue {
  if (value === undefined) return null;
  if (value instanceof Uint8Array)
    return form.byteBuffers === "bytes" ? [...value] : new TextDecoder().decode(value);
  if (isList(value)) return value.map((item) => toJson(item, form));
  if (!isPayload(value)) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return orderedObject(entries.map(([key, item]): [string, JsonValue] => [key, toJson(item, form)]));
}

function isSelected(key: string, { includeFields = [], excludeFields = [] }: OutputForm): boolean {
  return (includeFields.length === 0 || includeFields.includes(key)) && !excludeFields.includes(key);
}
