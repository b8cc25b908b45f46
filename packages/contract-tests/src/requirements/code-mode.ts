import type { Requirements } from "./requirement.ts";

export const codeModeRequirements = {
  "open-session:first-event": {
    source: "code_mode.proto: rpc OpenSession",
    behaviour: "The first event on the stream is SessionOpened, with a UUID.",
  },
  "execute:two-messages": {
    source: "code_mode.proto: rpc Execute",
    behaviour: "Execute sends started, then one outcome, then ends.",
  },
  "execute:stored-values": {
    source: "docs/code-mode.md",
    behaviour: "A value a cell stored is there for the next cell of its session.",
  },
  "tool-calls:loop": {
    source: "code_mode.proto: ToolCall.sequence",
    behaviour: "A hundred calls in a loop arrive numbered from 1, and their results reach the cell.",
  },
  "wait:yielded-cell": {
    source: "code_mode.proto: rpc Wait",
    behaviour: "A yielded cell goes on, and Wait gets the rest of its output.",
  },
  "terminate:endless-loop": {
    source: "code_mode.proto: rpc Terminate",
    behaviour: "An endless loop is terminated, and Wait then finds no cell.",
  },
  "close-session:unknown": {
    source: "code_mode.proto: rpc CloseSession",
    behaviour: "Closing a session twice is NOT_FOUND the second time.",
  },
} satisfies Requirements;
