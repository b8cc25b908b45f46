import { isJsonObject, isTooDeep, type JsonObject } from "../json.ts";
import { checkNameOverride } from "./name-overrides.ts";
import type { ToolConfig, ToolConfigEntry, TruncationConfig } from "./tool-config.ts";
import { badValueOf, type Violation } from "./violation.ts";

const MAX_TOOLS = 512;

/** What phase 2 makes of the request: each entry's params as an object, and the faults of the request's form. */
export interface DecodedRequest {
  /** By entry index. */
  readonly params: readonly JsonObject[];
  readonly violations: readonly Violation[];
}

/** Decodes the entries and checks the parts of the request that do not depend on the registry. */
export function checkRequest(config: ToolConfig): DecodedRequest {
  if (config.tools.length > MAX_TOOLS) return { params: [], violations: [tooManyTools(config.tools.length)] };
  const params: JsonObject[] = [];
  const violations: Violation[] = [];
  for (const [index, entry] of config.tools.entries()) {
    const decoded = decodeParams(entry, index);
    params.push("params" in decoded ? decoded.params : {});
    if ("violation" in decoded) violations.push(decoded.violation);
    const badName = checkNameOverride(entry, index);
    if (badName !== undefined) violations.push(badName);
  }
  violations.push(...checkTruncation(config.truncation), ...checkCallbackAddress(config.clientCallbackAddr));
  return { params, violations };
}

function tooManyTools(count: number): Violation {
  return {
    toolId: "(global)",
    fieldPath: "tools",
    message: `${count} tools are more than ${MAX_TOOLS}`,
    expected: `at most ${MAX_TOOLS} entries`,
    category: "tools_limit",
  };
}

function decodeParams(
  { id, paramsJson }: ToolConfigEntry,
  index: number,
): { params: JsonObject } | { violation: Violation } {
  if (paramsJson === undefined) return { params: {} };
  const base = { entryIndex: index, toolId: id, fieldPath: `tools[${index}].params_json` };
  let value: unknown;
  try {
    value = JSON.parse(paramsJson);
  } catch (cause) {
    const message = `params_json is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`;
    return { violation: { ...base, message, expected: "a JSON object", category: "params_json_parse" } };
  }
  if (isJsonObject(value) && !isTooDeep(value)) return { params: value };
  const badValueJson = badValueOf("params_json", value);
  return {
    violation: {
      ...base,
      message: "params_json is not an object",
      expected: "object",
      badValueJson,
      category: "params_type",
    },
  };
}

const MAX_OUTPUT_BYTES = 16_777_216;
const MAX_LINES = 1_000_000;

/** Violations of limits that are out of range. */
export function checkTruncation(truncation: TruncationConfig | undefined): Violation[] {
  if (truncation === undefined) return [];
  const { defaultMaxOutputBytes, perToolMaxOutputBytes = {}, maxLinesRead } = truncation;
  const fields: [path: string, value: number | undefined, max: number][] = [
    ["default_max_output_bytes", defaultMaxOutputBytes, MAX_OUTPUT_BYTES],
    ...Object.entries(perToolMaxOutputBytes).map(([key, value]): [string, number, number] => [
      `per_tool_max_output_bytes.${key}`,
      value,
      MAX_OUTPUT_BYTES,
    ]),
    ["max_lines_read", maxLinesRead, MAX_LINES],
  ];
  return fields
    .filter(
      ([, value, max]) => value !== undefined && !(Number.isInteger(value) && value >= 1 && value <= max),
    )
    .map(([path, value, max]) => ({
      toolId: "(global)",
      fieldPath: `truncation.${path}`,
      message: `truncation.${path} is ${value}`,
      expected: `1..=${max}`,
      badValueJson: JSON.stringify(value),
      category: "truncation_invalid",
    }));
}

function checkCallbackAddress(address: string | undefined): Violation[] {
  if (address === undefined || address === "" || isCallbackAddress(address)) return [];
  return [
    {
      toolId: "(global)",
      fieldPath: "client_callback_addr",
      message: "client_callback_addr is not an address a callback service can have",
      expected: "host:port, or an http:// or https:// URL without user and query",
      category: "callback_addr",
    },
  ];
}

function isCallbackAddress(address: string): boolean {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(address);
  const url = URL.parse(hasScheme ? address : `http://${address}`);
  if (url === null || !["http:", "https:"].includes(url.protocol)) return false;
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return false;
  return hasScheme || /^(\[[0-9a-f:.]+\]|[^/:[\]]+):\d+$/i.test(address);
}
