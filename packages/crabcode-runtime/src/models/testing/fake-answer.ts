/** What a fake provider is to say, before it is written in the grammar of one API. */
export interface FakeAnswer {
  readonly thinking?: string;
  /** One event per element. */
  readonly text?: readonly string[];
  readonly toolCalls?: readonly FakeToolCall[];
  /** Default 10 in, 5 out. `null`: the provider reports nothing. */
  readonly usage?: FakeUsage | null;
  /** Default: what follows from the content. */
  readonly finish?: "stop" | "tool-calls" | "length" | "content-filter";
}

/** One call, its arguments as the provider would write them: any text. */
export interface FakeToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  /** Chat Completions only: signature as Google's server adds it. */
  readonly thoughtSignature?: string;
}

/** Tokens a provider reports. */
export interface FakeUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
}

/** The finish word an answer has when it names none. */
export function finishOf(answer: FakeAnswer): "stop" | "tool-calls" | "length" | "content-filter" {
  return answer.finish ?? (answer.toolCalls === undefined ? "stop" : "tool-calls");
}

/** The usage an answer reports; undefined when it reports none. */
export function usageOf(answer: FakeAnswer): FakeUsage | undefined {
  return answer.usage === undefined ? { inputTokens: 10, outputTokens: 5 } : (answer.usage ?? undefined);
}

/** Cuts a call's arguments in two, so that a reader must join deltas. */
export function halves(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
}
