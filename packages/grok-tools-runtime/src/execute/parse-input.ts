import { ErrorCode } from "@trivium/proto/grok-tools";
import type { ConfiguredTool } from "../finalize/configured-tool.ts";
import { toCanonicalInput } from "../finalize/name-overrides.ts";
import { isJsonObject, isTooDeep, type JsonObject } from "../json.ts";
import { utf8Length } from "../output/truncate.ts";
import { ToolError } from "../tool-error.ts";

const MAX_INPUT_BYTES = 8 * 1024 * 1024;

/**
 * The input of a call with canonical parameter names.
 *
 * @throws {@link ToolError} INVALID_INPUT when it is no JSON object, is too large, or names a parameter twice.
 */
export function parseInput(
  { parameterNames, registered }: ConfiguredTool,
  input: JsonObject | string,
  isBackground: boolean,
): JsonObject {
  const renamed = toCanonicalInput(typeof input === "string" ? parseText(input) : input, parameterNames);
  if ("clash" in renamed) {
    const [client, canonical] = renamed.clash;
    throw ToolError.invalidField(
      client,
      `\`${client}\` and \`${canonical}\` are the same parameter, give one`,
    );
  }
  const { backgroundParameter } = registered.tool.capabilities;
  if (!isBackground || backgroundParameter === undefined) return renamed.input;
  return { [backgroundParameter]: true, ...renamed.input };
}

function parseText(text: string): JsonObject {
  if (text.trim() === "") return {};
  if (utf8Length(text) > MAX_INPUT_BYTES) {
    throw new ToolError(ErrorCode.INVALID_INPUT, `input_json is larger than ${MAX_INPUT_BYTES} bytes`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new ToolError(ErrorCode.INVALID_INPUT, `input_json is not JSON: ${detail}`, { cause });
  }
  if (isTooDeep(value)) throw new ToolError(ErrorCode.INVALID_INPUT, "input_json is nested too deeply");
  if (isJsonObject(value)) return value;
  throw new ToolError(ErrorCode.INVALID_INPUT, "input_json is not a JSON object");
}
