import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { parseOrderedJson } from "../ordered-json.ts";
import { ToolError } from "../tool-error.ts";
import type { ToolAnswer } from "./tool-answer.ts";

/**
 * An answer as it is kept on disk. What callers get as JSON is kept as its text: keys that look like numbers would lose
 * their place in an object of the record.
 */
export function toAnswerRecord({ callId, result, metadata }: ToolAnswer): JsonObject {
  if (result.ok) {
    const { output, promptText } = result;
    const outputJson = JSON.stringify(output);
    return { callId, result: { ok: true, outputJson, promptText }, metadata: { ...metadata } };
  }
  const { code, message, details, retryable, suggestion, filePath, lineNumber } = result.error;
  const error = {
    code,
    message,
    detailsJson: JSON.stringify(details),
    retryable,
    ...(suggestion !== undefined && { suggestion }),
    ...(filePath !== undefined && { filePath }),
    ...(lineNumber !== undefined && { lineNumber }),
  };
  return { callId, result: { ok: false, error }, metadata: { ...metadata } };
}

/** The answer of a record. @throws when the record is not one. */
export function fromAnswerRecord(record: JsonValue): ToolAnswer {
  const { callId, result, metadata } = recordSchema.parse(record);
  if (result.ok) {
    const output = toObject(result.outputJson);
    return { callId, result: { ok: true, output, promptText: result.promptText }, metadata };
  }
  const { code, message, detailsJson, ...options } = result.error;
  const error = new ToolError(code, message, { ...options, details: toObject(detailsJson) });
  return { callId, result: { ok: false, error }, metadata };
}

function toObject(text: string): JsonObject {
  const value = parseOrderedJson(text);
  if (isJsonObject(value)) return value;
  throw new TypeError("the record has another value where an object belongs");
}

const recordSchema = z.object({
  callId: z.string(),
  result: z.discriminatedUnion("ok", [
    z.object({ ok: z.literal(true), outputJson: z.string(), promptText: z.string() }),
    z.object({
      ok: z.literal(false),
      error: z.object({
        code: z.enum(ErrorCode),
        message: z.string(),
        detailsJson: z.string(),
        retryable: z.boolean(),
        suggestion: z.string().optional(),
        filePath: z.string().optional(),
        lineNumber: z.number().optional(),
      }),
    }),
  ]),
  metadata: z.object({
    durationMs: z.number(),
    estimatedTokens: z.number(),
    isTruncated: z.boolean(),
    toolVersion: z.string(),
    contractVersion: z.string(),
  }),
});
