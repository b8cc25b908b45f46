import type { CrabcodeSessionEvent } from "@trivium/proto/crabcode-events";
import { beforeEach, describe, expect, it } from "vitest";
import { Conversation, type Entry } from "./conversation.ts";

let entries: Entry[];
let conversation: Conversation;

beforeEach(() => {
  entries = [];
  conversation = new Conversation((entry) => {
    if (!entries.includes(entry)) entries.push(entry);
  });
});

describe("a conversation on the page", () => {
  it("joins the text of a step, and begins anew with the next step", () => {
    apply(
      { type: "stream_mode", mode: "requesting", agent_id: null },
      { type: "stream_text", text: "Hel" },
      { type: "stream_text", text: "lo" },
      { type: "stream_mode", mode: "requesting", agent_id: null },
      { type: "stream_text", text: "again" },
    );
    expect(entries).toEqual([
      { kind: "answer", text: "Hello" },
      { kind: "answer", text: "again" },
    ]);
  });

  it("shows an open question once, and another one of its id when that was settled", () => {
    const question = { type: "choice_request", question: "?", options: ["a"], multiple: false } as const;
    const asked = { ...question, tool_use_id: "s/c1/1", agent_id: null };
    apply(asked, asked);
    expect(entries).toHaveLength(1);
    apply(
      {
        type: "choice_response",
        tool_use_id: "s/c1/1",
        selected: ["a"],
        cancelled: false,
        agent_id: null,
        resolution: "answered",
      },
      asked,
    );
    expect(entries).toMatchObject([{ outcome: "a" }, { kind: "choice" }]);
    expect(entries[1]).not.toHaveProperty("outcome");
  });

  it("takes back what a retry discards", () => {
    apply({ type: "stream_text", text: "Hello" });
    apply({
      type: "stream_retry",
      message: "again",
      error: "network",
      retry_count: 1,
      max_retries: 3,
      delay_seconds: 1,
      unbounded: false,
      transport_fallback: false,
      discarded_text_chars: 2,
      agent_id: null,
    });
    expect(entries).toEqual([{ kind: "answer", text: "Hel" }]);
  });

  it("gives a call its result, and keeps calls of an agent apart", () => {
    const call = { type: "tool_use", tool_name: "Read", tool_input: {}, tool_use_id: "t1" } as const;
    apply(
      { ...call, agent_id: null },
      { ...call, agent_id: "a1" },
      result({ agent_id: "a1", result: "of the agent" }),
    );
    expect(entries).toMatchObject([
      { kind: "call", origin: undefined },
      { kind: "call", origin: "a1", result: "of the agent", isError: false },
    ]);
    expect(entries[0]).not.toHaveProperty("result");
  });

  it("asks a question once, however often it comes, and says how it was settled", () => {
    const request = {
      type: "permission_request",
      tool_name: "Bash",
      tool_input: { command: "npm test" },
      tool_use_id: "t1",
      reason: null,
      permission_key: "Bash(npm test:*)",
      agent_id: null,
      request_kind: "tool",
    } as const;
    apply(request, { ...request, replayed: true });
    expect(entries).toMatchObject([{ kind: "permission", title: "Allow Bash?" }]);
    apply({
      type: "permission_response",
      tool_use_id: "t1",
      allowed: false,
      always_allow: false,
      agent_id: null,
      feedback: null,
      resolution: "answered",
    });
    expect(entries).toMatchObject([{ outcome: "denied" }]);
  });

  it("knows what the model is doing, from the connection to the end of the turn", () => {
    conversation.apply({
      type: "server.connected",
      properties: {
        session_id: "s",
        epoch: "e",
        seq: 1,
        model: "offline",
        mode: "plan",
        busy: true,
        version: "1",
      },
    });
    expect([conversation.activity, conversation.mode]).toEqual(["working", "plan"]);
    apply({ type: "stream_mode", mode: "tool-running", agent_id: null });
    expect(conversation.activity).toBe("tool running");
    apply(turnComplete("interrupted"));
    expect(conversation.activity).toBe("");
    expect(entries).toEqual([{ kind: "note", isBad: false, text: "the turn ended: interrupted" }]);
  });

  it("shows the messages of a history, and lets a call that still ran then finish", () => {
    const message = {
      messageId: "m",
      createdAt: undefined,
      replyToMessageId: undefined,
      operationId: undefined,
    };
    const call = { type: "tool-use", toolUseId: "t1", toolName: "Read", input: {} } as const;
    conversation.recall({
      ...message,
      role: "user",
      index: 0,
      origin: undefined,
      blocks: [{ type: "text", text: "read" }],
    });
    conversation.recall({ ...message, role: "assistant", index: 1, origin: undefined, blocks: [call] });
    apply(result({ agent_id: null, result: "text" }));
    expect(entries).toMatchObject([
      { kind: "user", text: "read" },
      { kind: "call", toolName: "Read", result: "text" },
    ]);
  });

  it("ignores what it does not know", () => {
    conversation.apply({ type: "unknown", wireType: "later", raw: {} });
    expect(entries).toEqual([]);
  });
});

type Payload = CrabcodeSessionEvent & { readonly replayed?: true };

/** The numbers of the stream are nothing to this page. */
const envelope = { session_id: "s", epoch: "e", seq: 1, ts: "2026-01-01T00:00:00.000Z" };

function apply(...events: readonly Payload[]): void {
  for (const event of events) conversation.apply({ ...event, ...envelope });
}

function result(fields: { agent_id: string | null; result: string }): Payload {
  const call = { tool_use_id: "t1", tool_name: "Read", tool_input: {} };
  return { type: "tool_result", ...call, is_error: false, result_for_display: null, ...fields };
}

function turnComplete(reason: "interrupted"): Payload {
  return {
    type: "turn_complete",
    reason,
    turn_count: 1,
    usage: { input_tokens: 1, output_tokens: 1 },
    context_used_tokens: 0,
    context_window_tokens: 0,
    context_remaining_tokens: 0,
    context_used_percent: 0,
  };
}
