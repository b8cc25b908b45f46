import type { ToolCallResult } from "@trivium/code-mode-runtime";
import { TriviumError } from "@trivium/core";
import { requirePlainJson } from "../json-text.ts";
import type { DelegateResult } from "./client-message.ts";

/** What a program gets for its tool call. A result it cannot take fails the call, not the connection. */
export function toToolCallResult(result: DelegateResult): ToolCallResult {
  switch (result.type) {
    case "error":
      return { type: "failed", message: result.message };
    case "notification-delivered":
      return { type: "failed", message: "the client answered a tool call as if it were a notification" };
    case "tool-result":
      try {
        requirePlainJson("the result of the tool call", result.json);
        return { type: "succeeded", outputJson: result.json };
      } catch (thrown) {
        if (TriviumError.isInstance(thrown)) return { type: "failed", message: thrown.message };
        throw thrown;
      }
  }
}
