/** One question to people, who choose from what it offers. */
export interface AskedChoice {
  /** Of the call. */
  readonly callId: string;
  /** From 1, within its call. */
  readonly number: number;
  readonly question: string;
  /** Labels, at least one. */
  readonly options: readonly string[];
  readonly isMultiple: boolean;
  /** Ends the question with its call. */
  readonly signal: AbortSignal;
}

/** What became of a choice. */
export type ChoiceReply =
  | { readonly type: "chosen"; readonly labels: readonly string[] }
  | { readonly type: "cancelled" }
  | { readonly type: "expired" };

/** Port to people who are asked somewhere else than in the session's own list of questions. */
export interface ChoiceAsker {
  /** @throws the reason of the choice's signal when it aborts */
  choose(choice: AskedChoice): Promise<ChoiceReply>;
}
