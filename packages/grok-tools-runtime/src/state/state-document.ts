import { isJsonObject, isTooDeep, type JsonObject, type JsonValue } from "../json.ts";
import { parseOrderedJson } from "../ordered-json.ts";

/** The tool state: `params` by state key of the params, `state` by state key of the resources. */
export interface StateDocument {
  readonly params: Readonly<Record<string, JsonValue>>;
  readonly state: Readonly<Record<string, JsonValue>>;
}

export const emptyStateDocument: StateDocument = { params: {}, state: {} };

/** Why a text is no tool state. */
export type StateFault = { readonly fault: "parse" | "shape"; readonly message: string };

/** Reads a tool state. Unknown categories are dropped, unknown keys kept. An empty text is an empty state. */
export function parseStateDocument(text: string): StateDocument | StateFault {
  if (text.trim() === "") return emptyStateDocument;
  let value: unknown;
  try {
    value = parseOrderedJson(text);
  } catch (cause) {
    return { fault: "parse", message: cause instanceof Error ? cause.message : String(cause) };
  }
  if (!isJsonObject(value)) return { fault: "shape", message: "the tool state is not an object" };
  if (isTooDeep(value)) return { fault: "shape", message: "the tool state is nested too deeply" };
  const params = value["params"] ?? {};
  const state = value["state"] ?? {};
  if (!isJsonObject(params)) return { fault: "shape", message: "`params` is not an object" };
  if (!isJsonObject(state)) return { fault: "shape", message: "`state` is not an object" };
  return { params, state };
}

/** The document in the order in which it is always written, so that equal states are equal texts. */
export function toStateObject({ params, state }: StateDocument): JsonObject {
  return { params: sortedByKey(params), state: sortedByKey(state) };
}

/** Only the outer keys: the order inside a value can mean something (the to-do list). */
function sortedByKey(record: Readonly<Record<string, JsonValue>>): JsonObject {
  return Object.fromEntries(Object.entries(record).sort(([left], [right]) => (left < right ? -1 : 1)));
}
