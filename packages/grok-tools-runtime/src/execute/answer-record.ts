import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import type { JsonObject, JsonValue } from "../json.ts";
import { ToolError } from "../tool-error.ts";
import type { ToolAnswer } from "./tool-answer.ts";

/** An answer as it is kept on disk. */
export function toAnswerRecord({ callId, result, metadata }: ToolAnswer): JsonObject {
  if (result.ok) {
    const { output, promptText } = result;
    return { callId, result: { ok: true, output, promptText }, metadata: { ...metadata } };
  }
  const { code, message, details, retryable, suggestion, filePath, lineNumber } = result.error;
  const error = {
    code,
    message,
    details,
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
    // JSON.parse made it.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const output = result.output as JsonObject;
    return { callId, result: { ok: true, output, promptText: result.promptText }, metadata };
  }
  const { code, message, details, ...options } = result.error;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  const error = new ToolError(code, message, { ...options, details: details as JsonObject });
  return { callId, result: { ok: false, error }, metadata };
}

const json = z.record(z.string(), z.unknown());

const recordSchema = z.object({
  callId: z.string(),
  result: z.discriminatedUnion("ok", [
    z.object({ ok: z.literal(true), output: json, promptText: z.string() }),
    z.object({
      ok: z.literal(false),
      error: z.object({
        code: z.enum(ErrorCode),
        message: z.string(),
        details: json,
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
