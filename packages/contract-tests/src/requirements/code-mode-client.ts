import type { Requirements } from "./requirement.ts";

/** What the SDK promises beyond the calls of the contract. */
export const codeModeClientRequirements = {
  "client:exec-source": {
    source: "packages/code-mode-client/README.md: parseExecSource",
    behaviour: "The first line of a model's source chooses the time of the first outcome and the budget.",
  },
  "client:delegate": {
    source: "packages/code-mode-client/README.md: CodeModeClient",
    behaviour: "Tool calls of the first program reach the delegate, and its exceptions reject the promise.",
  },
  "client:tools-of-execution": {
    source: "code_mode.proto: ExecuteRequest.enabled_tools",
    behaviour: "A tool that was not enabled for the execution is not there for its program.",
  },
  "client:notifications": {
    source: "code_mode.proto: rpc AcknowledgeNotification",
    behaviour: "A completed outcome comes after the handlers of the program's notifications.",
  },
  "client:dropped-execute": {
    source: "code_mode.proto: rpc Execute",
    behaviour: "Giving up an Execute ends its cell, which is reported closed once.",
  },
  "client:one-wait": {
    source: "code_mode.proto: rpc Wait",
    behaviour: "A second look at a cell fails at once on this side; one that is given up loses no output.",
  },
  "client:generations": {
    source: "packages/code-mode-client/README.md: LastingSession",
    behaviour: "After a loss cells have new names, and the old ones are refused without asking the host.",
  },
  "client:shutdown": {
    source: "packages/code-mode-client/README.md: LastingSession",
    behaviour: "A session that was shut down refuses everything and has reported every cell closed.",
  },
  "client:presentation": {
    source: "packages/code-mode-client/README.md: presentOutcome",
    behaviour: "A model is shown a status, the time, and the output; a failure is told by its error.",
  },
} satisfies Requirements;
