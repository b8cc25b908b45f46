import type { Requirements } from "./requirement.ts";

export const crabcodeRequirements = {
  "health-check:ok": {
    source: "crabcode.proto: rpc HealthCheck",
    behaviour: "HealthCheck says ok and the version.",
  },
  "list-models:offline": {
    source: "crabcode.proto: rpc ListModels",
    behaviour: "A server without a key lists the labelled offline model.",
  },
  "send-message:last-event": {
    source: "crabcode.proto: rpc SendMessage",
    behaviour: "The last event of a turn is exactly one turn_complete.",
  },
  "send-message:numbered": {
    source: "docs/crabcode.md",
    behaviour: "Every event of a session carries epoch and a growing seq.",
  },
  "send-message:empty": {
    source: "crabcode.proto: SendMessageRequest.text",
    behaviour: "Blank text is INVALID_ARGUMENT and starts nothing.",
  },
  "subscribe-events:first-event": {
    source: "crabcode.proto: rpc SubscribeEvents",
    behaviour: "The first event of a subscription is server.connected.",
  },
  "respond-permission:unknown": {
    source: "crabcode.proto: rpc RespondPermission",
    behaviour: "An answer to a question nobody asked is NOT_FOUND.",
  },
  "session:unknown": {
    source: "crabcode.proto: SendMessageRequest.session_id",
    behaviour: "A session that does not exist is NOT_FOUND, never the default one.",
  },
} satisfies Requirements;
