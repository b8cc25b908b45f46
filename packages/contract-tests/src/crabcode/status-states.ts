import type { Action, ConversationSetup, ScriptEntry } from "./vector.ts";

/** What must have happened before the call of a status case: a conversation of its own that stops half-way. */
export interface StatusState {
  /** Which server. Default: the shared one, where scripts may play. */
  readonly server?: "guarded" | "draining";
  /** The session of the case. Default: the default session, which the call itself names or makes. */
  readonly session?: "own";
  readonly setup?: ConversationSetup;
  /** Request metadata of every call. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly script?: readonly ScriptEntry[];
  readonly actions?: readonly Action[];
  /** Words of the request that stand for something known only now, in the form of placeholders. */
  readonly words?: Readonly<Record<string, string>>;
}

/** The token of the guarded server. */
export const TOKEN = "secret";

const held: ScriptEntry = { text: "never said", hold: "never" };
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Values that cases describe instead of holding them. */
export const describedValues: Readonly<Record<string, unknown>> = {
  "<1 MiB + 1 byte>": { $repeat: ["x", 1_048_577] },
  "<129 characters>": { $repeat: ["k", 129] },
  "Basic <base64 of other:secret>": `Basic ${base64(`other:${TOKEN}`)}`,
  "Basic <base64 of crabcode:secret>": `Basic ${base64(`crabcode:${TOKEN}`)}`,
};

/** Every state that cases name. */
export const statusStates: Readonly<Record<string, StatusState>> = {
  fresh: {},
  "default session loaded": { actions: [{ rpc: "ListAgents", request: {} }] },
  "password configured": { server: "guarded" },
  "crabcode.testing is false, profile p uses provider script": {
    server: "guarded",
    session: "own",
    metadata: { authorization: `Bearer ${TOKEN}` },
    setup: { settings: { models: { p: { provider: "script", model: "m" } } } },
  },
  "profile smart needs a key that is not set": {
    session: "own",
    setup: {
      settings: { models: { smart: { provider: "anthropic", model: "m", api_key_env: "NO_SUCH_KEY" } } },
    },
  },
  "session s1 exists": { session: "own", words: { s1: "${SESSION}" } },
  "session s1 exists with another cwd inside the roots": {
    session: "own",
    setup: { files: { "other/file.txt": "" } },
    words: { s1: "${SESSION}" },
  },
  "agent A in session s1, s2 exists": {
    session: "own",
    script: [{ agent: 1, ...held }],
    actions: [
      { rpc: "SpawnAgent", request: { prompt: "x" }, as: "a" },
      {
        rpc: "SubscribeEvents",
        request: { session_id: "${SESSION}-s2" },
        metadata: { "crabcode-create-session": "1" },
        as: "second",
      },
      { wait: { stream: "second", type: "server.connected" } },
    ],
    words: { A: "${a.agent_id}", s2: "${SESSION}-s2" },
  },
  "agent A running": {
    session: "own",
    script: [{ agent: 1, ...held }],
    actions: [
      { rpc: "SubscribeEvents", request: {}, as: "bus" },
      { wait: { stream: "bus", type: "server.connected" } },
      { rpc: "SpawnAgent", request: { prompt: "x" }, as: "a" },
      { wait: { stream: "bus", type: "agent_state", match: { status: "running" } } },
    ],
    words: { A: "${a.agent_id}" },
  },
  "16 agents queued or running": {
    session: "own",
    script: [1, 2, 3, 4].map((agent) => ({ agent, ...held })),
    actions: Array.from({ length: 16 }, () => ({ rpc: "SpawnAgent", request: { prompt: "x" } }) as const),
  },
  'SpawnAgent{prompt:"x"} was made with key k': {
    session: "own",
    script: [{ agent: 1, ...held }],
    actions: [{ rpc: "SpawnAgent", request: { prompt: "x" }, metadata: { "idempotency-key": "k" } }],
  },
  "c1 answered in the running turn": {
    session: "own",
    script: [{ tool_calls: [{ id: "c1", name: "Bash", input: { command: "true" } }] }, held],
    actions: [
      { rpc: "SendMessage", request: { text: "x" }, as: "turn" },
      {
        rpc: "RespondPermission",
        request: { tool_use_id: "c1", allowed: true },
        when: { stream: "turn", type: "permission_request" },
      },
    ],
  },
  "c1 expired in the running turn": {
    session: "own",
    setup: { settings: { permissions: { request_timeout_seconds: 1 } } },
    script: [{ tool_calls: [{ id: "c1", name: "Bash", input: { command: "true" } }] }, held],
    actions: [
      { rpc: "SendMessage", request: { text: "x" }, as: "turn" },
      { wait: { stream: "turn", type: "tool_result" } },
    ],
  },
  "choice c1 is pending": {
    session: "own",
    script: [
      { tool_calls: [{ id: "c1", name: "AskUser", input: { question: "Which?", options: ["a", "b"] } }] },
    ],
    actions: [
      { rpc: "SendMessage", request: { text: "x" }, as: "turn" },
      { wait: { stream: "turn", type: "choice_request" } },
    ],
  },
  "two agents wait for a permission with the same tool_use_id x1": {
    session: "own",
    script: [1, 2].map((agent) => ({
      agent,
      tool_calls: [{ id: "x1", name: "Bash", input: { command: "true" } }],
    })),
    actions: [
      { rpc: "SubscribeEvents", request: {}, as: "bus" },
      { wait: { stream: "bus", type: "server.connected" } },
      { rpc: "SpawnAgent", request: { prompt: "x" } },
      { rpc: "SpawnAgent", request: { prompt: "x" } },
      { wait: { stream: "bus", type: "permission_request", nth: 2 } },
    ],
  },
  "one turn running, eight queued": {
    session: "own",
    script: [held],
    actions: [
      { rpc: "SendMessage", request: { text: "x" }, as: "running" },
      { wait: { stream: "running", type: "stream_mode" } },
      ...Array.from({ length: 8 }, (_, index): Action[] => [
        { rpc: "SendMessage", request: { text: "x" }, as: `waiting ${index}` },
        { wait: { stream: `waiting ${index}`, headers: true } },
      ]).flat(),
    ],
  },
  "server draining": {
    server: "draining",
    script: [held],
    session: "own",
    actions: [
      {
        rpc: "SubscribeEvents",
        request: {},
        as: "bus",
        expect_code: "UNAVAILABLE",
        expect_reason: "SHUTTING_DOWN",
      },
      { rpc: "SendMessage", request: { text: "x" }, as: "turn" },
      { wait: { stream: "turn", type: "stream_mode" } },
    ],
  },
};
