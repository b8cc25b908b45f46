import type { CrabcodeUsage, ErrorEvent, TurnCompleteReason } from "@trivium/proto/crabcode-events";
import { type CrabcodeClientEvent, isNumbered } from "./client-event.ts";

/** What a turn came to. */
export interface TurnResult {
  /** The session it ran in; undefined when no event of it came. */
  readonly sessionId: string | undefined;
  /** 32 hexadecimal characters that name the turn in every event of it; undefined when none came. */
  readonly operationId: string | undefined;
  /** Why it ended. `unknown`: the stream ended without saying, as some servers do after an error. */
  readonly reason: TurnCompleteReason | "unknown";
  /** Text of the last step that said anything. */
  readonly text: string;
  /** Model requests made. */
  readonly turnCount: number;
  readonly usage: CrabcodeUsage;
  /** `error` events of the main loop, in order. A turn with errors ends normally: look at `reason`. */
  readonly errors: readonly ErrorEvent[];
}

/** Adds the events of one turn up to its result. */
export class TurnSummary {
  readonly #errors: ErrorEvent[] = [];
  #text = "";
  #stepText = "";
  #end: Pick<TurnResult, "reason" | "turnCount" | "usage"> = { reason: "unknown", turnCount: 0, usage: {} };
  #sessionId: string | undefined;
  #operationId: string | undefined;

  get result(): TurnResult {
    const place = { sessionId: this.#sessionId, operationId: this.#operationId };
    return { ...place, ...this.#end, text: this.#text, errors: this.#errors };
  }

  add(event: CrabcodeClientEvent): void {
    if (isNumbered(event)) {
      this.#sessionId = event.session_id;
      this.#operationId = event.operation_id;
    }
    if (event.type === "stream_mode" && event.mode === "requesting" && event.agent_id === null) {
      this.#stepText = "";
    }
    if (event.type === "stream_text") this.#setText(this.#stepText + event.text);
    if (event.type === "stream_retry" && event.agent_id === null && event.discarded_text_chars > 0) {
      this.#setText(this.#stepText.slice(0, -event.discarded_text_chars));
    }
    if (event.type === "error" && event.agent_id === null) this.#errors.push(event);
    if (event.type === "turn_complete") {
      this.#end = { reason: event.reason, turnCount: event.turn_count, usage: event.usage };
    }
  }

  #setText(text: string): void {
    this.#stepText = text;
    this.#text = text;
  }
}
