import { abortReason, TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import type { JsonValue } from "../json.ts";
import { utf8Length } from "../output/truncate.ts";
import type { ResourceDefinition, SessionScope } from "../session-resource.ts";
import { shorten } from "../shorten.ts";
import { ToolError } from "../tool-error.ts";

/** Questions of one session that wait at a time. */
const MAX_PENDING = 64;
/** Bytes of all of them together, so that a list of them fits into one message. */
const MAX_PENDING_BYTES = 8 * 1024 * 1024;

/** What somebody is asked by a call that waits. */
export interface PendingQuestion {
  /** Of the call: the address of the answer. */
  readonly callId: string;
  /** Fully qualified id of the tool. */
  readonly toolId: string;
  readonly kind: "questions" | "plan-approval";
  /** `questions` of the tool's input, or `{ plan_content, plan_file_path }`. */
  readonly content: JsonValue;
  readonly askedAtMs: number;
  /** When the call goes on without an answer. Undefined: never. */
  readonly expiresAtMs: number | undefined;
}

/** A question to ask. */
export interface Question<Answer> extends Pick<PendingQuestion, "callId" | "toolId" | "kind" | "content"> {
  /** Undefined: wait for ever. */
  readonly timeoutMs: number | undefined;
  /** Ends the question with its call. */
  readonly signal: AbortSignal;
  /** Reads an answer. @throws {@link TriviumError} `invalidInput` naming what is wrong; the question stays then. */
  parse(outcome: JsonValue): Answer;
}

type Waiting = {
  readonly question: PendingQuestion;
  readonly bytes: number;
  answer(outcome: JsonValue): void;
};

/** The questions of one session that nobody has answered. Each ends once: answered, out of time, or with its call. */
export class PendingQuestions {
  readonly #scope: SessionScope;
  readonly #waiting = new Map<string, Waiting>();

  constructor(scope: SessionScope) {
    this.#scope = scope;
  }

  /** The longest waiting first. */
  list(): readonly PendingQuestion[] {
    return [...this.#waiting.values()].map(({ question }) => question);
  }

  /**
   * Answers the question of a call.
   *
   * @throws {@link TriviumError} `notFound` when no question of that call waits (any more), `invalidInput` for an
   * outcome that does not fit; the question waits on then.
   */
  answer(callId: string, outcome: JsonValue): void {
    const waiting = this.#waiting.get(callId);
    if (waiting === undefined) {
      throw new TriviumError(
        "notFound",
        `no question of a call ${JSON.stringify(shorten(callId))} waits for an answer: it was answered, or its call has ended`,
      );
    }
    waiting.answer(outcome);
  }

  /**
   * Asks and waits; the question can be answered as soon as this has returned. Undefined: nobody answered in time.
   *
   * Rejects with the reason of the question's signal.
   *
   * @throws {@link ToolError} EXECUTION_FAILED when too much waits already; the reason of the signal.
   */
  ask<Answer>(asked: Question<Answer>): Promise<Answer | undefined> {
    const { callId, toolId, kind, content, timeoutMs, signal } = asked;
    const { clock } = this.#scope;
    if (signal.aborted) throw abortReason(signal);
    const bytes = utf8Length(JSON.stringify(content));
    this.#assertRoom(bytes);
    const askedAtMs = clock.now();
    const expiresAtMs = timeoutMs === undefined ? undefined : askedAtMs + timeoutMs;
    const settled = Promise.withResolvers<Answer | undefined>();
    const end = (): void => {
      this.#waiting.delete(callId);
      signal.removeEventListener("abort", onAbort);
      timer?.[Symbol.dispose]();
    };
    const onAbort = (): void => {
      end();
      settled.reject(abortReason(signal));
    };
    const onTimeout = (): void => {
      end();
      settled.resolve(undefined);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const timer = timeoutMs === undefined ? undefined : clock.setTimer(timeoutMs, onTimeout);
    this.#waiting.set(callId, {
      question: { callId, toolId, kind, content, askedAtMs, expiresAtMs },
      bytes,
      answer(outcome) {
        const answer = asked.parse(outcome);
        end();
        settled.resolve(answer);
      },
    });
    return settled.promise;
  }

  #assertRoom(bytes: number): void {
    const waitingBytes = [...this.#waiting.values()].reduce((sum, waiting) => sum + waiting.bytes, 0);
    if (this.#waiting.size < MAX_PENDING && waitingBytes + bytes <= MAX_PENDING_BYTES) return;
    throw new ToolError(
      ErrorCode.EXECUTION_FAILED,
      `${this.#waiting.size} questions of this session wait for answers, which is the limit`,
      { retryable: true, suggestion: "Wait until they are answered, then ask again." },
    );
  }
}

/** The unanswered questions of a session. They end with their calls, so there is nothing to dispose or to save. */
export const pendingQuestions: ResourceDefinition<PendingQuestions> = {
  name: "pending questions",
  create: (scope) => new PendingQuestions(scope),
};
