import { abortReason, linkSignals } from "@trivium/core";
import type { ChoiceRequestEvent, PermissionRequestEvent } from "@trivium/proto/crabcode-events";
import type { ToolInput } from "../conversation/message.ts";
import type { OneAtATime } from "./one-at-a-time.ts";
import type { PermissionDecision, PermissionPolicy } from "./permission-policy.ts";
import type { ChoiceVerdict, PermissionVerdict, QuestionRegistry } from "./question-registry.ts";

/** A call that no turn of the session makes, and that its permissions are to cover all the same. */
export interface OutsideCall {
  /** Address of the answer; no other call has it. */
  readonly toolUseId: string;
  readonly tool: string;
  readonly input: ToolInput;
  readonly isReadOnly: boolean;
  /** Its input is a command: "always" then grants commands like this one, not the tool. */
  readonly runsCommands: boolean;
  /** Files and folders it works on: absolute, symbolic links resolved. Rules judge each. */
  readonly targetPaths: readonly string[];
  /** What becomes of it where the session neither denies nor grants it. */
  readonly wish: "allow" | "ask";
  /** Ends the question with the call. */
  readonly signal: AbortSignal;
}

/** A choice of somebody who is no turn of the session. */
export interface OutsideChoice {
  /** Address of the answer; no other question has it. */
  readonly toolUseId: string;
  readonly question: string;
  /** At least one. */
  readonly options: readonly string[];
  readonly multiple: boolean;
  /** Ends the question with the call. */
  readonly signal: AbortSignal;
}

type OutsideRequest = PermissionRequestEvent | ChoiceRequestEvent;

/** Keeps which questions wait, over the end of the process. Each call is durable when it returns. */
export interface OutsideJournal {
  asked(request: OutsideRequest): void;
  settled(toolUseId: string): void;
  /** Requests of an earlier process that were asked and not settled, as JSON. */
  unsettled(): readonly string[];
}

/** What the gate of a session works with. */
export interface OutsideGateDeps {
  readonly policy: PermissionPolicy;
  readonly questions: QuestionRegistry;
  /** Time for an answer; 0 is for ever. */
  readonly timeoutMs: number;
  readonly journal: OutsideJournal;
}

const closed = "the session that was to be asked has closed";

/**
 * Lets calls from outside the turns of a session through its rules, its mode and its grants, and asks its clients.
 *
 * Their questions belong to no operation: subscribers get them, streams of messages do not. Disposing it cancels what
 * waits.
 */
export class OutsideGate implements Disposable {
  readonly #deps: OutsideGateDeps;
  readonly #closing = new AbortController();

  constructor(deps: OutsideGateDeps) {
    this.#deps = deps;
  }

  /**
   * Why a call must not be made; undefined when it may.
   *
   * @param turns questions of one caller, which are asked one by one: what an answer grants, the next needs not ask
   * @throws the reason of the call's signal when it aborts; TriviumError `alreadyExists`
   */
  async permit(call: OutsideCall, turns: OneAtATime): Promise<string | undefined> {
    const first = this.#decide(call);
    if (first.behavior !== "ask") return refusalOf(first);
    return await turns.run(call.signal, async () => {
      // Answers to those before may have granted it, and the mode may have changed.
      const decision = this.#decide(call);
      return decision.behavior === "ask" ? await this.#ask(call, decision) : refusalOf(decision);
    });
  }

  /** @throws the reason of the choice's signal when it aborts; TriviumError `alreadyExists` */
  async choose({ signal, ...choice }: OutsideChoice, turns: OneAtATime): Promise<ChoiceVerdict> {
    const { questions, timeoutMs } = this.#deps;
    const { toolUseId: tool_use_id, question, options, multiple } = choice;
    return await turns.run(signal, async () => {
      if (this.#closing.signal.aborted) return { selected: [], isCancelled: true, resolution: "cancelled" };
      const verdict = await this.#whileAsked(
        { type: "choice_request" as const, tool_use_id, question, options, multiple, agent_id: null },
        signal,
        (request, either) => questions.askChoice(request, { operation: {}, signal: either, timeoutMs }),
      );
      if (signal.aborted) throw abortReason(signal);
      return verdict;
    });
  }

  /** Settles what an earlier process asked: whoever waited for the answer is gone. */
  settleLost(): void {
    const { journal, questions } = this.#deps;
    for (const text of journal.unsettled()) {
      // It was written by this class.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const request = JSON.parse(text) as OutsideRequest;
      if (!questions.wasSettled(null, request.tool_use_id)) questions.cancelLost(request, {});
      journal.settled(request.tool_use_id);
    }
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  #decide({ tool, input, isReadOnly, runsCommands, targetPaths, wish }: OutsideCall): PermissionDecision {
    const { policy } = this.#deps;
    const decisions = (targetPaths.length === 0 ? [undefined] : targetPaths).map((targetPath) =>
      policy.decide({ tool, input, isReadOnly, runsCommands, targetPath, opinion: wish }),
    );
    const [first] = decisions;
    const strongest =
      decisions.find(({ behavior }) => behavior === "deny") ??
      decisions.find(({ behavior }) => behavior === "ask") ??
      first;
    if (strongest === undefined) throw new Error("a call without a decision");
    return strongest;
  }

  /** Asks while neither the caller nor the session has ended. */
  async #whileAsked<Request extends OutsideRequest, Verdict>(
    request: Request,
    signal: AbortSignal,
    ask: (request: Request, signal: AbortSignal) => Promise<Verdict>,
  ): Promise<Verdict> {
    const { journal, questions } = this.#deps;
    // Before the journal, which would hold this one in place of the other.
    questions.assertFree(null, request.tool_use_id);
    using linked = linkSignals([signal, this.#closing.signal]);
    journal.asked(request);
    try {
      return await ask(request, linked.signal);
    } finally {
      journal.settled(request.tool_use_id);
    }
  }

  async #ask(call: OutsideCall, { key, reason }: PermissionDecision): Promise<string | undefined> {
    if (this.#closing.signal.aborted) return closed;
    const { policy, questions, timeoutMs } = this.#deps;
    const verdict = await this.#whileAsked(
      {
        type: "permission_request" as const,
        tool_name: call.tool,
        tool_input: call.input,
        tool_use_id: call.toolUseId,
        reason: reason ?? null,
        permission_key: key,
        agent_id: null,
        request_kind: "tool" as const,
      },
      call.signal,
      (request, signal) => questions.askPermission(request, { operation: {}, signal, timeoutMs }),
    );
    if (verdict.isAllowed) {
      if (verdict.alwaysAllow) policy.grant(key);
      return undefined;
    }
    if (call.signal.aborted) throw abortReason(call.signal);
    return refusedBecause(verdict, timeoutMs);
  }
}

function refusalOf({ behavior, reason }: PermissionDecision): string | undefined {
  if (behavior === "allow") return undefined;
  return `the session that was asked says: ${reason ?? "denied by the settings"}`;
}

function refusedBecause({ resolution, feedback }: PermissionVerdict, timeoutMs: number): string {
  if (resolution === "expired") return `no answer within ${timeoutMs / 1000} s`;
  if (resolution === "cancelled") return closed;
  return feedback === undefined || feedback === ""
    ? "refused by the user"
    : `refused by the user, who said: ${feedback}`;
}
