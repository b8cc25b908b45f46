import type { Primitive } from "../realm/realm-types.ts";
import type { ScriptAction } from "./script-runtime.ts";

/** Reads a message of the service realm. */
export function toScriptAction(kind: string, values: readonly Primitive[]): ScriptAction {
  const [first, second, third] = values;
  switch (kind) {
    case "text":
      return { type: "text", text: toText(first) };
    case "image":
      return { type: "image", url: toText(first), detail: toText(second) };
    case "audio":
      return { type: "audio", url: toText(first) };
    case "yield":
      return { type: "yield" };
    case "store":
      return { type: "store", key: toText(first), json: toText(second) };
    case "notify":
      return { type: "notify", text: toText(first) };
    case "tool":
      return {
        type: "tool",
        callNumber: Number(first),
        toolIndex: Number(second),
        inputJson: third === undefined ? undefined : toText(third),
      };
    default:
      throw new Error(`the service realm sent a message of the unknown kind ${kind}`);
  }
}

function toText(value: Primitive): string {
  return typeof value === "string" ? value : String(value);
}
