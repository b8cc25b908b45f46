import type { ChoiceRequestEvent, PermissionRequestEvent } from "@trivium/proto/crabcode-events";
import { BackOff, type BackOffDeps } from "./back-off.ts";
import type { CrabcodeClientEvent, NumberedCrabcodeEvent } from "./client-event.ts";
import { isConnectionLoss } from "./connection-loss.ts";
import { crabcodeErrorReason } from "./error-reason.ts";

/** How a permission question is answered. `always` allows the same kind of call for the rest of the session. */
export type PermissionDecision = "allow" | "always" | "deny";

/** What a callback of a question gets besides the question. */
export interface QuestionContext {
  /** Aborts when the answer is not wanted any more: somebody else answered, it expired, or the stream ended. */
  readonly signal: AbortSignal;
}

/** Callbacks that answer questions as they arrive on a stream. */
export interface QuestionHandlers {
  readonly onPermission?:
    | ((
        request: PermissionRequestEvent,
        context: QuestionContext,
      ) => PermissionDecision | Promise<PermissionDecision>)
    | undefined;
  /** The chosen options, or null to cancel. */
  readonly onChoice?:
    | ((
        request: ChoiceRequestEvent,
        context: QuestionContext,
      ) => readonly string[] | null | Promise<readonly string[] | null>)
    | undefined;
}

/** Which question an answer is for. */
export interface QuestionAddress {
  readonly sessionId: string;
  readonly toolUseId: string;
  /** Absent for the main loop. */
  readonly agentId?: string;
}

/** What a responder works with. */
export interface ResponderDeps extends BackOffDeps {
  readonly sender: AnswerSender;
  /** Hears what a callback or an answer threw. */
  readonly onFailure: (error: unknown) => void;
}

/** Sends answers. */
export interface AnswerSender {
  respondPermission(address: QuestionAddress, decision: PermissionDecision): Promise<void>;
  respondChoice(address: QuestionAddress, selected: readonly string[] | null): Promise<void>;
}

type Question = Extract<NumberedCrabcodeEvent, { type: "permission_request" | "choice_request" }>;

/** An answer that came too late is nobody's fault. */
const lateReasons: readonly (string | undefined)[] = ["REQUEST_ALREADY_ANSWERED", "REQUEST_NOT_PENDING"];

/**
 * Answers the questions of one stream through callbacks. Each question is asked once, however often it is sent; an
 * answer that is lost with its connection is sent again until it arrives or the question is settled.
 * Disposing it aborts the callbacks that still run.
 */
export class QuestionResponder implements Disposable {
  readonly #handlers: QuestionHandlers;
  readonly #deps: ResponderDeps;
  readonly #open = new Map<string, AbortController>();

  constructor(handlers: QuestionHandlers, deps: ResponderDeps) {
    this.#handlers = handlers;
    this.#deps = deps;
  }

  /** Looks at an event of the stream; starts or ends a callback. Never waits. */
  observe(event: CrabcodeClientEvent): void {
    if (event.type === "permission_request" || event.type === "choice_request") {
      const key = keyOf(event);
      if (this.#open.has(key) || !this.#isHandled(event)) return;
      const controller = new AbortController();
      this.#open.set(key, controller);
      this.#ask(event, controller.signal).catch((error: unknown) => {
        if (!controller.signal.aborted) this.#deps.onFailure(error);
      });
    }
    const isSettled =
      event.type === "permission_response" ||
      event.type === "choice_response" ||
      event.type === "tool_result";
    if (isSettled) this.#close(keyOf(event));
  }

  #isHandled(question: Question): boolean {
    const { onPermission, onChoice } = this.#handlers;
    return (question.type === "permission_request" ? onPermission : onChoice) !== undefined;
  }

  async #ask(question: Question, signal: AbortSignal): Promise<void> {
    const { session_id: sessionId, tool_use_id: toolUseId, agent_id: agentId } = question;
    const address = { sessionId, toolUseId, ...(agentId !== null && { agentId }) };
    const { onPermission, onChoice } = this.#handlers;
    const { sender } = this.#deps;
    if (question.type === "permission_request" && onPermission !== undefined) {
      const decision = await onPermission(question, { signal });
      await this.#send(() => sender.respondPermission(address, decision), signal);
    }
    if (question.type === "choice_request" && onChoice !== undefined) {
      const selected = await onChoice(question, { signal });
      await this.#send(() => sender.respondChoice(address, selected), signal);
    }
  }

  async #send(answer: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const backOff = new BackOff(this.#deps);
    while (!signal.aborted) {
      try {
        await answer();
        return;
      } catch (error) {
        // The answer whose connection was lost may have arrived.
        if (lateReasons.includes(crabcodeErrorReason(error))) return;
        if (!isConnectionLoss(error) || !backOff.isWorthRetrying(error)) throw error;
      }
      await backOff.pause(signal);
    }
  }

  #close(key: string): void {
    this.#open.get(key)?.abort(new DOMException("the question is settled", "AbortError"));
    this.#open.delete(key);
  }

  [Symbol.dispose](): void {
    for (const key of this.#open.keys()) this.#close(key);
  }
}

function keyOf(event: {
  readonly session_id: string;
  readonly agent_id: string | null;
  readonly tool_use_id: string;
}): string {
  return JSON.stringify([event.session_id, event.agent_id, event.tool_use_id]);
}
