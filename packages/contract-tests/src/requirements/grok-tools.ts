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
  "life-cycle:every-method": {
    source: "docs/grok-tools.md: Sessions",
    behaviour:
      "Every method does its work or is FAILED_PRECONDITION, before finalize and after it, as documented.",
  },
  "list-tools:catalogue": {
    source: "grok_tools.proto: rpc ListTools",
    behaviour: "Before finalize exactly the fifty tools of the contract are told, each with its category.",
  },
  "finalize:versions": {
    source: "grok_tools.proto: FinalizeToolServerConfigRequest.behavior_preset",
    behaviour:
      "Each preset gives the seven managed tools their version; an override beats it, others have none.",
  },
  "execute-tool:error-codes": {
    source: "grok_tools.proto: enum ErrorCode",
    behaviour: "A failure is told by the finest code that fits, and whether trying again helps.",
  },
  "execute-tool:working-directories": {
    source: "grok_tools.proto: ExecutionOptions.working_directory",
    behaviour: "Calls at the same time work each in its own folder.",
  },
  "execute-tool:client-abort": {
    source: "docs/processes.md: How a command ends",
    behaviour:
      "When the client gives up a call, everything its command has started is gone within two seconds.",
  },
  "execute-tool-stream:sizes": {
    source: "grok_tools.proto: ExecutionOptions.stream_chunk_size",
    behaviour: "Slices of 1 byte up to 4 MiB never cut a character; anything else is INVALID_ARGUMENT.",
  },
  "get-tool-state:beside-calls": {
    source: "docs/grok-tools.md: Sessions",
    behaviour: "State that is asked for while calls run holds whole writes of each.",
  },
  "request-metadata:switches": {
    source: "docs/grok-tools.md: Sessions",
    behaviour:
      "The metadata of a request changes the shape of failures and of byte buffers; wrong values are refused.",
  },
  "request-metadata:folder": {
    source: "docs/grok-tools.md: Sessions",
    behaviour: "A session works in the folder its finalize names; one that cannot be used leaves it open.",
  },
  "finalize:bash-alias": {
    source: "grok_tools.proto: ToolConfigEntry.id",
    behaviour: "GrokBuild:bash is the shell tool under another name, and no tool beside it.",
  },
  "search-replace:empty-old-string": {
    source: "docs/file-tools.md: Editing",
    behaviour: "Empty old text never overwrites a file, unless the params of this very session say so.",
  },
  "search-replace:line-endings": {
    source: "docs/file-tools.md: Editing",
    behaviour:
      "An edit changes the bytes of its match alone, and inserts lines with the endings found there.",
  },
  "every-method:token": {
    source: "docs/endpoint.md: Security",
    behaviour: "Without the token of the server no method of the service does anything.",
  },
} satisfies Requirements;
