import type { Requirements } from "./requirement.ts";

export const grokToolsRequirements = {
  "list-tools:before-finalize": {
    source: "grok_tools.proto: rpc ListTools",
    behaviour: "Before finalize ListTools tells every tool of the server with its namespace.",
  },
  "execute-tool:before-finalize": {
    source: "grok_tools.proto: rpc ExecuteTool",
    behaviour: "Before finalize ExecuteTool is FAILED_PRECONDITION and names the missing step.",
  },
  "finalize:violations": {
    source: "grok_tools.proto: message FinalizeConfigValidationDetails",
    behaviour: "A wrong entry refuses the finalize with one violation each in the status details.",
  },
  "finalize:once": {
    source: "grok_tools.proto: rpc FinalizeToolConfigRequest",
    behaviour: "A second finalize of a session is FAILED_PRECONDITION and changes nothing.",
  },
  "execute-tool:unknown": {
    source: "grok_tools.proto: ERROR_CODE_TOOL_NOT_FOUND",
    behaviour: "An unknown tool is an error in the response, not a status.",
  },
  "execute-tool-stream:chunks": {
    source: "grok_tools.proto: message StreamDataChunk",
    behaviour: "Joined chunks are the unary answer; offsets have no hole; the final result comes last.",
  },
  "get-tool-state:shape": {
    source: "grok_tools.proto: GetToolStateResponse.state_json",
    behaviour: "The state is a JSON object with params and state.",
  },
} satisfies Requirements;
