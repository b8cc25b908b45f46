import type { CodeModeSession, ToolCall, ToolCallResult } from "@trivium/code-mode-runtime";
import type { CellEvents } from "@trivium/crabcode-runtime";
import { toCellJson } from "../server-tools/cell-json.ts";

const MAX_RESULT_BYTES = 16 * 1024 * 1024;

/** Answers the calls that the programs of one session make. */
export class CellCallServer {
  readonly #session: CodeModeSession;
  readonly #events: CellEvents;
  /** By invocation. */
  readonly #open = new Map<string, AbortController>();

  constructor(session: CodeModeSession, events: CellEvents) {
    this.#session = session;
    this.#events = events;
  }

  /** Begins the call; its result goes to the program whenever it is there. */
  serve(call: ToolCall): void {
    const { invocationId } = call;
    const abort = new AbortController();
    this.#open.set(invocationId, abort);
    void this.#answer(call, abort.signal)
      .catch(toFailure)
      .then((result) => {
        this.#open.delete(invocationId);
        try {
          this.#session.completeToolCall(invocationId, result);
        } catch {
          // The session has ended meanwhile; nobody waits for the result.
        }
      });
  }

  /** Nobody waits for the result of the call any more. */
  cancel(invocationId: string): void {
    this.#open.get(invocationId)?.abort(new DOMException("the program has ended", "AbortError"));
  }

  cancelAll(): void {
    for (const invocationId of this.#open.keys()) this.cancel(invocationId);
  }

  async #answer(
    { cellId, toolCallId, tool, inputJson }: ToolCall,
    signal: AbortSignal,
  ): Promise<ToolCallResult> {
    const input: unknown = inputJson === undefined ? undefined : JSON.parse(inputJson);
    const answer = await this.#events.called({ cellId, toolCallId, name: tool.name, input, signal });
    if ("problem" in answer) return { type: "failed", message: answer.problem };
    const outputJson = toCellJson(answer.value);
    if (outputJson === undefined) {
      return { type: "failed", message: "Error: the result is nested too deeply for a program" };
    }
    const bytes = Buffer.byteLength(outputJson);
    if (bytes <= MAX_RESULT_BYTES) return { type: "succeeded", outputJson };
    return {
      type: "failed",
      message: `Error: the result takes ${bytes} bytes; a program can be given ${MAX_RESULT_BYTES}`,
    };
  }
}

/** Whatever goes wrong here is the end of one call, not of the server. */
function toFailure(cause: unknown): ToolCallResult {
  return { type: "failed", message: `Error: ${cause instanceof Error ? cause.message : "the call failed"}` };
}
