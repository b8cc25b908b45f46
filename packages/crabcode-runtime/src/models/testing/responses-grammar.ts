import { type FakeAnswer, finishOf, halves, usageOf } from "./fake-answer.ts";

/** An answer as server-sent events of the Responses API. Thinking carries the encrypted content `enc-1`. */
export function responsesEvents(answer: FakeAnswer, model: string): string[] {
  const events = [frame("response.created", { response: { id: "resp_1", created_at: 1, model } })];
  let index = 0;
  const item = (start: object, deltas: readonly string[], end: object): void => {
    events.push(
      frame("response.output_item.added", { output_index: index, item: start }),
      ...deltas,
      frame("response.output_item.done", { output_index: index, item: { ...start, ...end } }),
    );
    index += 1;
  };
  if (answer.thinking !== undefined) {
    const place = { item_id: "rs_1", summary_index: 0 };
    item(
      { type: "reasoning", id: "rs_1", encrypted_content: null },
      [
        frame("response.reasoning_summary_part.added", place),
        frame("response.reasoning_summary_text.delta", { ...place, delta: answer.thinking }),
        frame("response.reasoning_summary_part.done", place),
      ],
      { encrypted_content: "enc-1" },
    );
  }
  if (answer.text !== undefined) {
    const deltas = answer.text.map((delta) =>
      frame("response.output_text.delta", { item_id: "msg_1", delta }),
    );
    item({ type: "message", id: "msg_1" }, deltas, {});
  }
  for (const { id, name, arguments: text } of answer.toolCalls ?? []) {
    const place = { item_id: `fc_${id}`, output_index: index };
    item(
      { type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: "" },
      halves(text).map((delta) => frame("response.function_call_arguments.delta", { ...place, delta })),
      { arguments: text, status: "completed" },
    );
  }
  events.push(endOf(answer));
  return events;
}

function endOf(answer: FakeAnswer): string {
  const counted = usageOf(answer);
  const usage =
    counted === undefined
      ? null
      : {
          input_tokens: counted.inputTokens,
          input_tokens_details: { cached_tokens: counted.cachedInputTokens ?? 0 },
          output_tokens: counted.outputTokens,
          output_tokens_details: { reasoning_tokens: counted.reasoningTokens ?? 0 },
        };
  const finish = finishOf(answer);
  if (finish !== "length" && finish !== "content-filter") {
    return frame("response.completed", { response: { usage, incomplete_details: null } });
  }
  const reason = finish === "length" ? "max_output_tokens" : "content_filter";
  return frame("response.incomplete", { response: { usage, incomplete_details: { reason } } });
}

function frame(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
