import type { Requirements } from "./requirement.ts";

export const crabcodeStreamRequirements = {
  "metadata:session": {
    source: "docs/crabcode.md: Metadata",
    behaviour: "Every response but HealthCheck's names the session it is about.",
  },
  "send-message:operation": {
    source: "docs/crabcode.md: Metadata",
    behaviour: "The response headers of a message name its operation, which its events carry.",
  },
  "send-message:idempotent": {
    source: "docs/crabcode.md: Interrupt",
    behaviour:
      "A message that is sent again with its key joins the first one; another with that key is refused.",
  },
  "send-message:detached": {
    source: "docs/crabcode.md: Interrupt",
    behaviour: "A detached turn goes on without its stream.",
  },
  "send-message:nobody-answers": {
    source: "docs/crabcode.md: Permissions",
    behaviour: "When nobody answers for a message, a permission is refused at once and not asked for.",
  },
  "create-session:once": {
    source: "docs/crabcode.md: Sessions",
    behaviour: "Calls that race to make a session get the same one.",
  },
  "subscribe-events:same-order": {
    source: "docs/crabcode.md: Events",
    behaviour: "Two subscribers see the same events, the sender the same without the settlements.",
  },
  "subscribe-events:cursor": {
    source: "docs/crabcode.md: Events",
    behaviour: "A subscription that continues after any event gets exactly the rest.",
  },
  "subscribe-events:gap": {
    source: "docs/crabcode.md: Events",
    behaviour: "A cursor of another numbering is answered with a gap, then with all there is.",
  },
  "switch:notices": {
    source: "crabcode.proto: rpc SwitchModel, rpc SwitchMode",
    behaviour: "Subscribers hear of a switch that a client makes, and of none that changes nothing.",
  },
  "respond-choice:options": {
    source: "crabcode.proto: ChoiceResponseMsg.selected",
    behaviour: "An option that was not offered is refused, and the question waits on.",
  },
} satisfies Requirements;
