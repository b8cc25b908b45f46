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
  "spawn-agent:runs": {
    source: "crabcode.proto: rpc SpawnAgent",
    behaviour: "An agent runs by itself; WaitAgent and GetAgent give its snapshot with the result.",
  },
  "spawn-agent:events": {
    source: "docs/crabcode.md",
    behaviour:
      "Every state of an agent is told by one agent_state, in background scope when a client spawned it.",
  },
  "spawn-agent:callback": {
    source: "crabcode.proto: SpawnAgentRequest.callback",
    behaviour: "The result goes into the conversation, whose next turn delivers it.",
  },
  "spawn-agent:refusals": {
    source: "crabcode.proto: rpc SpawnAgent",
    behaviour: "A blank prompt and an unknown type are INVALID_ARGUMENT, an unknown session NOT_FOUND.",
  },
  "get-agent:unknown": {
    source: "crabcode.proto: rpc GetAgent",
    behaviour: "An agent that no session owns is NOT_FOUND, also to cancel or wait for.",
  },
  "list-agents:newest-first": {
    source: "crabcode.proto: rpc ListAgents",
    behaviour: "The agents of a session come newest first.",
  },
  "cancel-agent:ended": {
    source: "crabcode.proto: rpc CancelAgent",
    behaviour: "Cancelling an agent that has ended changes nothing and is not ok.",
  },
  "session-service:life": {
    source: "session.proto: service SessionService",
    behaviour: "A session is made, found, named, archived, given back, closed and deleted.",
  },
  "session-service:history": {
    source: "session.proto: rpc ListMessages",
    behaviour: "A history is read in pages without loading the session, and words of it find the session.",
  },
  "session-service:refusals": {
    source: "session.proto: service SessionService",
    behaviour: "A refusal has its status and a reason of the domain trivium.",
  },
  "list-questions:pending": {
    source: "question.proto: rpc ListQuestions",
    behaviour: "A question is listed from its request to its answer.",
  },
  "send-agent-input:next-run": {
    source: "agent.proto: rpc SendAgentInput",
    behaviour: "An ended agent gets more to do in a new epoch; a blank prompt is INVALID_ARGUMENT.",
  },
  "send-message:skills": {
    source: "docs/crabcode.md",
    behaviour: "A skill that a message is about follows it in the history, and its tool is offered.",
  },
  "create-checkpoint:kept": {
    source: "checkpoint.proto: rpc CreateCheckpoint",
    behaviour: "The files of the session's folder and the place of its conversation are kept.",
  },
  "create-checkpoint:idempotent": {
    source: "checkpoint.proto: rpc CreateCheckpoint",
    behaviour: "A second call with the same key makes no second checkpoint.",
  },
  "list-checkpoints:pages": {
    source: "checkpoint.proto: rpc ListCheckpoints",
    behaviour: "Checkpoints come newest first, page by page; a token of another request is refused.",
  },
  "revert-to-checkpoint:undo": {
    source: "checkpoint.proto: rpc RevertToCheckpoint",
    behaviour: "A revert brings files and conversation back and names the checkpoint that undoes it.",
  },
  "revert-to-checkpoint:refusals": {
    source: "checkpoint.proto: rpc RevertToCheckpoint",
    behaviour: "An unknown session or checkpoint is NOT_FOUND, an unknown scope INVALID_ARGUMENT.",
  },
} satisfies Requirements;
