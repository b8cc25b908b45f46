import { createHash } from "node:crypto";
import { isTooDeep, type JsonObject } from "../json.ts";
import type { CallOptions } from "./call-options.ts";

/** Equal for calls that ask for the same: tool, input as a JSON value, and the options that change the run. */
export function fingerprintOf(toolName: string, input: JsonObject | string, options: CallOptions): string {
  const { timeoutMs, background = false, outputFormat = "default", workingDirectory } = options;
  const { includeFields = [], excludeFields = [] } = options;
  const asked = {
    toolName,
    input: typeof input === "string" ? valueOf(input) : input,
    timeoutMs,
    background,
    outputFormat,
    workingDirectory,
    includeFields,
    excludeFields,
  };
  return createHash("sha256").update(JSON.stringify(asked, sortKeys)).digest("hex");
}

function valueOf(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(value) ? { text } : value;
  } catch {
    // Not JSON: the call fails the same way each time, told apart by its text.
    return { text };
  }
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}
