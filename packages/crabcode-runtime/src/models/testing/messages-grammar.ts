import { type FakeAnswer, finishOf, halves, usageOf } from "./fake-answer.ts";

const stopWords = {
  stop: "end_turn",
  "tool-calls": "tool_use",
  length: "max_tokens",
  "content-filter": "refusal",
};

/** An answer as server-sent events of the Messages API. Thinking ends with the signature `sig-1`. */
export function messagesEvents(answer: FakeAnswer, model: string): string[] {
  const usage = usageOf(answer) ?? { inputTokens: 0, outputTokens: 0 };
  const events = [
    frame("message_start", {
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: usage.inputTokens - (usage.cachedInputTokens ?? 0),
          cache_read_input_tokens: usage.cachedInputTokens ?? 0,
          output_tokens: 1,
        },
      },
    }),
  ];
  let index = 0;
  const block = (start: object, deltas: readonly object[]): void => {
    events.push(frame("content_block_start", { index, content_block: start }));
    for (const delta of deltas) events.push(frame("content_block_delta", { index, delta }));
    events.push(frame("content_block_stop", { index }));
    index += 1;
  };
  if (answer.thinking !== undefined) {
    block({ type: "thinking", thinking: "", signature: "" }, [
      { type: "thinking_delta", thinking: answer.thinking },
      { type: "signature_delta", signature: "sig-1" },
    ]);
  }
  if (answer.text !== undefined) {
    block(
      { type: "text", text: "" },
      answer.text.map((text) => ({ type: "text_delta", text })),
    );
  }
  for (const call of answer.toolCalls ?? []) {
    block(
      { type: "tool_use", id: call.id, name: call.name, input: {} },
      halves(call.arguments).map((half) => ({ type: "input_json_delta", partial_json: half })),
    );
  }
  events.push(
    frame("message_delta", {
      delta: { stop_reason: stopWords[finishOf(answer)], stop_sequence: null },
      usage: { output_tokens: usage.outputTokens },
    }),
    frame("message_stop", {}),
  );
  return events;
}

/** The body of a refusal. */
export function messagesError(message: string, type: string): object {
  return { type: "error", error: { type, message } };
}

function frame(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
