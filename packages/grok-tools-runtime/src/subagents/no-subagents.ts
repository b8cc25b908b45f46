import { ErrorCode } from "@trivium/proto/grok-tools";
import { ToolError } from "../tool-error.ts";
import type { Subagents } from "./subagents.ts";

/** A session that nobody runs children for. */
export const noSubagents: Subagents = {
  host: undefined,
  start: () =>
    Promise.reject(
      new ToolError(ErrorCode.NOT_IMPLEMENTED, "no host runs subagents for this session", {
        suggestion: "Finalize with client_callback_addr, the address of a host that runs them.",
        details: { unavailable: "subagent_host" },
      }),
    ),
  get: () => undefined,
  list: () => [],
};
