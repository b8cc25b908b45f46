import { type LoopHooks, taggedFeedback } from "./session-hooks.ts";

/** What became of a prompt. */
export type SubmittedPrompt =
  /** `feedback` is what the hooks said, for the model. */
  | { readonly kind: "accepted"; readonly feedback: string | undefined }
  | { readonly kind: "blocked"; readonly message: string }
  | { readonly kind: "interrupted" };

/** Asks the hooks whether a message of the user may begin its turn. */
export async function submitPrompt(
  hooks: LoopHooks,
  text: string,
  signal: AbortSignal,
): Promise<SubmittedPrompt> {
  try {
    const verdict = await hooks.run({
      event: "user_prompt_submit",
      payload: { user_text: text },
      agentId: null,
      signal,
    });
    if (verdict.isBlocked) {
      return { kind: "blocked", message: `a hook blocked the prompt: ${verdict.feedback}` };
    }
    return { kind: "accepted", feedback: taggedFeedback("user-prompt-submit-hook", verdict) };
  } catch {
    // Hooks reject with the abort only.
    return { kind: "interrupted" };
  }
}
