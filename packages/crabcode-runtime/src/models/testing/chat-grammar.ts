import { type FakeAnswer, finishOf, halves, usageOf } from "./fake-answer.ts";

const finishWords = {
  stop: "stop",
  "tool-calls": "tool_calls",
  length: "length",
  "content-filter": "content_filter",
};

/** An answer as server-sent events of the Chat Completions API. */
export function chatEvents(answer: FakeAnswer, model: string): string[] {
  const chunk = (delta: object, finishReason: string | null = null): string =>
    frame({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model,
      choices: [{ index: 0, delta, finish_reason: finishReason }],
    });
  const events = [chunk({ role: "assistant", content: "" })];
  if (answer.thinking !== undefined) events.push(chunk({ reasoning_content: answer.thinking }));
  for (const text of answer.text ?? []) events.push(chunk({ content: text }));
  for (const [index, call] of (answer.toolCalls ?? []).entries()) {
    const start = { name: call.name, arguments: "" };
    const extra = call.thoughtSignature && {
      extra_content: { google: { thought_signature: call.thoughtSignature } },
    };
    events.push(chunk({ tool_calls: [{ index, id: call.id, type: "function", function: start, ...extra }] }));
    for (const half of halves(call.arguments)) {
      events.push(chunk({ tool_calls: [{ index, function: { arguments: half } }] }));
    }
  }
  events.push(chunk({}, finishWords[finishOf(answer)]));
  const usage = usageOf(answer);
  if (usage !== undefined) {
    events.push(
      frame({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 1,
        model,
        choices: [],
        usage: {
          prompt_tokens: usage.inputTokens,
          completion_tokens: usage.outputTokens,
          total_tokens: usage.inputTokens + usage.outputTokens,
          prompt_tokens_details: { cached_tokens: usage.cachedInputTokens ?? 0 },
          completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
        },
      }),
    );
  }
  events.push("data: [DONE]\n\n");
  return events;
}

/** The body of a refusal. */
export function chatError(message: string, code: string | null): object {
  return { error: { message, type: "invalid_request_error", param: null, code } };
}

function frame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
