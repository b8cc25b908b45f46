import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";

/** What `rg --json` reports. Other messages are not needed. */
export type RipgrepEvent =
  /** Without a path: its name is not UTF-8, so that nobody could ask for the file. */
  | { readonly kind: "begin"; readonly path: string | undefined }
  | LinesEvent
  | { readonly kind: "end"; readonly binaryOffset: number | undefined };

/** Lines that match, or lines around them. A match across lines has several. */
export interface LinesEvent {
  readonly kind: "match" | "context";
  /** Number of the first line, from 1. */
  readonly lineNumber: number;
  /** Offset of the first byte in the file. */
  readonly byteOffset: number;
  readonly text: string;
}

/** Undefined for messages that carry nothing for us, and for what is not a message. */
export function parseRipgrepEvent(line: string): RipgrepEvent | undefined {
  const message = parseJson(line);
  if (!isJsonObject(message)) return undefined;
  const { type, data } = message;
  if (!isJsonObject(data)) return undefined;
  if (type === "begin") return { kind: "begin", path: nameOf(data["path"]) };
  if (type === "match" || type === "context") return toLinesEvent(type, data);
  return type === "end" ? { kind: "end", binaryOffset: numberOf(data["binary_offset"]) } : undefined;
}

function toLinesEvent(kind: "match" | "context", data: JsonObject): LinesEvent {
  return {
    kind,
    lineNumber: numberOf(data["line_number"]) ?? 1,
    byteOffset: numberOf(data["absolute_offset"]) ?? 0,
    text: textOf(data["lines"]),
  };
}

function nameOf(value: JsonValue | undefined): string | undefined {
  return isJsonObject(value) && typeof value["text"] === "string" ? value["text"] : undefined;
}

/** `{"text"}`, or `{"bytes"}` in base64 for what is not UTF-8. */
function textOf(value: JsonValue | undefined): string {
  if (!isJsonObject(value)) return "";
  const { text, bytes } = value;
  if (typeof text === "string") return text;
  return typeof bytes === "string" ? Buffer.from(bytes, "base64").toString("utf8") : "";
}

function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The last line of a killed run is cut off.
    return undefined;
  }
}
