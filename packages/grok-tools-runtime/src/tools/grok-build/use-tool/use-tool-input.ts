import { z } from "zod";
import { isJsonObject, isTooDeep, type JsonObject } from "../../../json.ts";

export interface UseToolInput {
  readonly tool_name: string;
  readonly tool_input: JsonObject;
}

const jsonObject = z.custom<JsonObject>(isJsonObject, "expected an object, or the JSON text of one");

/** The input; that of the tool may also come as JSON text, or as null. */
export const useToolInput: z.ZodType<UseToolInput> = z.object({
  tool_name: z
    .string()
    .describe("Name of the tool as `${{ tools.by_kind.search_tool }}` shows it: `server__tool`."),
  tool_input: z
    .preprocess(toObject, jsonObject)
    .meta({ type: "object" })
    .describe("Input of the tool, as its input schema demands. Without parameters: {}."),
});

function toObject(value: unknown): unknown {
  if (value === null) return {};
  if (typeof value !== "string") return value;
  if (value.trim() === "") return {};
  try {
    const parsed: unknown = JSON.parse(value);
    return isTooDeep(parsed) ? value : parsed;
  } catch {
    // The text stays and is refused as what it is.
    return value;
  }
}
