import { type Clock, TriviumError } from "@trivium/core";
import type {
  ChoiceRequestEvent,
  ChoiceResponseEvent,
  PermissionRequestEvent,
  PermissionResponseEvent,
  QuestionResolution,
} from "@trivium/proto/crabcode-events";
import { CrabcodeError } from "../crabcode-error.ts";
import type { ChoiceAnswer, PermissionAnswer, StreamEvent } from "../crabcode-runtime.ts";
import type { EventContext, PublishedEvent, SessionEventBus } from "../events/session-event-bus.ts";

/** Settled questions that are remembered, so that a late answer is told apart from a wrong one. */
const REMEMBERED_QUESTIONS = 1024;

/** How a permission question ended. */
export interface PermissionVerdict {
  readonly isAllowed: boolean;
  readonly alwaysAllow: boolean;
  readonly feedback: string | undefined;
  readonly resolution: QuestionResolution;
}

/** How a choice question ended. */
export interface ChoiceVerdict {
  readonly selected: readonly string[];
  readonly isCancelled: boolean;
  readonly resolution: QuestionResolution;
}

/** A question as it is asked. */
export interface AskOptions {
  readonly operation: EventContext;
  /** Settles the question as `cancelled`. */
  readonly signal: AbortSignal;
  /** 0 never expires. */
  readonly timeoutMs: number;
  /** Questions may wait for each other: false when by then nobody has to be asked any more. */
  readonly isNeeded?: () => boolean;
  /** Told of an "always" before the next question that waits is asked. */
  readonly onAlwaysAllow?: () => void;
}

/** Keeps what must survive the process. Each call is durable when it returns. */
export interface QuestionJournal {
  settled(agentId: string | null, toolUseId: string): void;
}

interface Pending {
  readonly request: PermissionRequestEvent | ChoiceRequestEvent;
  published: PublishedEvent | undefined;
  settle(outcome: Outcome): void;
}

interface Outcome {
  readonly resolution: QuestionResolution;
  readonly permission?: PermissionAnswer;
  readonly choice?: ChoiceAnswer;
}

/** What a registry is made of. */
export interface QuestionRegistryDeps {
  readonly bus: SessionEventBus;
  readonly clock: Clock;
  readonly journal: QuestionJournal;
  /** Keys of questions that were settled before, oldest first; see {@link questionKey}. */
  readonly settledKeys: readonly string[];
}

/** The address of a question within its session. */
export function questionKey(agentId: string | null, toolUseId: string): string {
  return `${agentId ?? ""}|${toolUseId}`;
}

/** Every question of one session that waits for an answer, of any agent. Each is settled exactly once. */
export class QuestionRegistry {
  readonly #deps: QuestionRegistryDeps;
  readonly #pending = new Map<string, Pending>();
  readonly #settled: Set<string>;
  /** Calls of a running step that may ask, with an answer that came early. */
  readonly #announced = new Map<string, PermissionAnswer | undefined>();

  constructor(deps: QuestionRegistryDeps) {
    this.#deps = deps;
    this.#settled = new Set(deps.settledKeys);
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  /** `seq` of the pending questions, for the retention of the log. */
  get pendingSeqs(): number[] {
    return this.#published().map((event) => event.seq);
  }

  /** The pending questions as they were asked, in order. */
  get published(): readonly PublishedEvent[] {
    return this.#published().sort((a, b) => a.seq - b.seq);
  }

  /** The pending questions up to `maxSeq` as they are sent again, in order. */
  replay(maxSeq: number): StreamEvent[] {
    return this.published
      .filter((event) => event.seq <= maxSeq)
      .map(({ type, data }) => ({ type, payloadJson: `${data.slice(0, -1)},"replayed":true}` }));
  }

  /** Calls of a step: an answer to one that has not asked yet is kept for it. Disposed at the end of the step. */
  announce(agentId: string | null, toolUseIds: readonly string[]): Disposable {
    const keys = toolUseIds.map((toolUseId) => questionKey(agentId, toolUseId));
    for (const key of keys) this.#announced.set(key, undefined);
    return {
      [Symbol.dispose]: () => {
        for (const key of keys) this.#announced.delete(key);
      },
    };
  }

  /** Whether a question was settled, as far as that is remembered. */
  wasSettled(agentId: string | null, toolUseId: string): boolean {
    return this.#settled.has(questionKey(agentId, toolUseId));
  }

  /** @throws TriviumError `alreadyExists` while a question with that address waits: it is not to be lost */
  assertFree(agentId: string | null, toolUseId: string): void {
    if (!this.#pending.has(questionKey(agentId, toolUseId))) return;
    throw new TriviumError("alreadyExists", "another question with that tool_use_id waits for its answer");
  }

  /** Asks and waits, if it is still needed. `permission_response` is published before this resolves. */
  async askPermission(request: PermissionRequestEvent, options: AskOptions): Promise<PermissionVerdict> {
    const early = this.#announced.get(questionKey(request.agent_id, request.tool_use_id));
    if (early === undefined && options.isNeeded?.() === false) {
      return { ...permissionVerdict("auto", undefined), isAllowed: true };
    }
    const { resolution, permission } = await this.#ask(request, { ...options, early });
    const verdict = permissionVerdict(resolution, permission);
    if (verdict.alwaysAllow) options.onAlwaysAllow?.();
    return verdict;
  }

  /** Asks and waits. `choice_response` is published before this resolves. */
  async askChoice(request: ChoiceRequestEvent, options: AskOptions): Promise<ChoiceVerdict> {
    const { resolution, choice } = await this.#ask(request, options);
    return choiceVerdict(resolution, choice);
  }

  /** Nobody can be asked: publishes the settlement alone. */
  refuseUnasked(request: PermissionRequestEvent, operation: EventContext): PermissionVerdict {
    this.#remember(questionKey(request.agent_id, request.tool_use_id), request);
    this.#deps.bus.publish(permissionResponse(request, permissionVerdict("auto", undefined)), operation);
    return permissionVerdict("auto", undefined);
  }

  /** As {@link QuestionRegistry.refuseUnasked} for a choice, which takes the first option. */
  chooseUnasked(request: ChoiceRequestEvent, operation: EventContext): ChoiceVerdict {
    this.#remember(questionKey(request.agent_id, request.tool_use_id), request);
    const verdict: ChoiceVerdict = {
      selected: request.options.slice(0, 1),
      isCancelled: false,
      resolution: "auto",
    };
    this.#deps.bus.publish(choiceResponse(request, verdict), operation);
    return verdict;
  }

  /** A question of an earlier process that nobody will go on with: publishes its settlement. */
  cancelLost(request: PermissionRequestEvent | ChoiceRequestEvent, operation: EventContext): void {
    this.#remember(questionKey(request.agent_id, request.tool_use_id), request);
    this.#deps.bus.publish(
      request.type === "permission_request"
        ? permissionResponse(request, permissionVerdict("cancelled", undefined))
        : choiceResponse(request, choiceVerdict("cancelled", undefined)),
      operation,
    );
  }

  /** @throws CrabcodeError REQUEST_NOT_PENDING, REQUEST_ALREADY_ANSWERED, REQUEST_AMBIGUOUS, AGENT_NOT_FOUND */
  answerPermission(answer: PermissionAnswer): void {
    const key = this.#find(answer, "permission_request");
    const pending = this.#pending.get(key);
    if (pending === undefined) this.#announced.set(key, answer);
    else pending.settle({ resolution: "answered", permission: answer });
  }

  /** @throws CrabcodeError as {@link QuestionRegistry.answerPermission}, and SELECTION_INVALID */
  answerChoice(answer: ChoiceAnswer): void {
    const pending = this.#pending.get(this.#find(answer, "choice_request"));
    if (pending === undefined || pending.request.type !== "choice_request")
      throw notPending(answer.toolUseId);
    if (answer.isCancelled !== true) assertSelection(answer.selected, pending.request);
    pending.settle({ resolution: "answered", choice: answer });
  }

  #published(): PublishedEvent[] {
    return [...this.#pending.values()].flatMap(({ published }) => published ?? []);
  }

  async #ask(
    request: PermissionRequestEvent | ChoiceRequestEvent,
    { operation, signal, timeoutMs, early }: AskOptions & { early?: PermissionAnswer | undefined },
  ): Promise<Outcome> {
    const { bus, clock } = this.#deps;
    const key = questionKey(request.agent_id, request.tool_use_id);
    this.assertFree(request.agent_id, request.tool_use_id);
    const expiresAt = timeoutMs === 0 ? null : new Date(clock.now() + timeoutMs).toISOString();
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    const pending: Pending = {
      request,
      published: undefined,
      settle: (outcome) => {
        if (this.#pending.get(key) !== pending) return;
        this.#pending.delete(key);
        this.#remember(key, request);
        bus.publish(
          request.type === "permission_request"
            ? permissionResponse(request, permissionVerdict(outcome.resolution, outcome.permission))
            : choiceResponse(request, choiceVerdict(outcome.resolution, outcome.choice)),
          operation,
        );
        resolve(outcome);
      },
    };
    this.#pending.set(key, pending);
    const published = bus.publishAndWait(request, { ...operation, expiresAt }).then(
      (event) => {
        pending.published = event;
      },
      (cause: unknown) => {
        // Nobody was asked, so nobody will answer.
        if (this.#pending.get(key) === pending) this.#pending.delete(key);
        reject(new TriviumError("internal", "the question could not be published", { cause }));
      },
    );
    const timer =
      timeoutMs === 0
        ? undefined
        : clock.setTimer(timeoutMs, () => pending.settle({ resolution: "expired" }));
    const onAbort = (): void => pending.settle({ resolution: "cancelled" });
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      if (signal.aborted) onAbort();
      else if (early !== undefined) pending.settle({ resolution: "answered", permission: early });
      const outcome = await promise;
      await published;
      return outcome;
    } finally {
      timer?.[Symbol.dispose]();
      signal.removeEventListener("abort", onAbort);
    }
  }

  #remember(key: string, { agent_id, tool_use_id }: PermissionRequestEvent | ChoiceRequestEvent): void {
    this.#settled.delete(key);
    this.#settled.add(key);
    for (const oldest of this.#settled) {
      if (this.#settled.size <= REMEMBERED_QUESTIONS) break;
      this.#settled.delete(oldest);
    }
    this.#deps.journal.settled(agent_id, tool_use_id);
  }

  /** The key of the question an answer is for: a pending one, or a call that may still ask. */
  #find(
    { agentId, toolUseId }: Pick<PermissionAnswer, "agentId" | "toolUseId">,
    type: "permission_request" | "choice_request",
  ): string {
    const isAddressed = agentId !== undefined && agentId !== "";
    const key = questionKey(isAddressed ? agentId : null, toolUseId);
    const ofAgents = isAddressed
      ? []
      : [...this.#pending.values()].filter(
          ({ request }) => request.tool_use_id === toolUseId && request.agent_id !== null,
        );
    const pending = this.#pending.get(key);
    if (pending !== undefined) {
      if (pending.request.type === type) return key;
      throw notPending(toolUseId);
    }
    if (ofAgents.length > 1) {
      throw new CrabcodeError(
        "REQUEST_AMBIGUOUS",
        "several agents ask with that tool_use_id; name the agent_id",
      );
    }
    const [ofAgent] = ofAgents;
    if (ofAgent !== undefined && ofAgent.request.type === type) {
      return questionKey(ofAgent.request.agent_id, toolUseId);
    }
    const isEarly = this.#announced.has(key) && this.#announced.get(key) === undefined;
    if (isEarly && !this.#settled.has(key) && type === "permission_request") return key;
    if (this.#settled.has(key) || this.#announced.get(key) !== undefined) {
      throw new CrabcodeError(
        "REQUEST_ALREADY_ANSWERED",
        "the question with that tool_use_id is already settled",
      );
    }
    throw notPending(toolUseId);
  }
}

function permissionVerdict(
  resolution: QuestionResolution,
  answer: PermissionAnswer | undefined,
): PermissionVerdict {
  return {
    isAllowed: answer?.isAllowed === true,
    alwaysAllow: answer?.isAllowed === true && answer.alwaysAllow === true,
    feedback: resolution === "expired" ? "timeout" : answer?.feedback,
    resolution,
  };
}

function choiceVerdict(resolution: QuestionResolution, answer: ChoiceAnswer | undefined): ChoiceVerdict {
  const isCancelled = answer === undefined || answer.isCancelled === true;
  return { selected: isCancelled ? [] : answer.selected, isCancelled, resolution };
}

function permissionResponse(
  request: PermissionRequestEvent,
  verdict: PermissionVerdict,
): PermissionResponseEvent {
  return {
    type: "permission_response",
    tool_use_id: request.tool_use_id,
    allowed: verdict.isAllowed,
    always_allow: verdict.alwaysAllow,
    agent_id: request.agent_id,
    feedback: verdict.feedback ?? null,
    resolution: verdict.resolution,
  };
}

function choiceResponse(request: ChoiceRequestEvent, verdict: ChoiceVerdict): ChoiceResponseEvent {
  return {
    type: "choice_response",
    tool_use_id: request.tool_use_id,
    selected: verdict.selected,
    cancelled: verdict.isCancelled,
    agent_id: request.agent_id,
    resolution: verdict.resolution,
  };
}

function assertSelection(selected: readonly string[], request: ChoiceRequestEvent): void {
  const isOffered = selected.every((option) => request.options.includes(option));
  const isUnique = new Set(selected).size === selected.length;
  if (isOffered && isUnique && (request.multiple || selected.length === 1)) return;
  throw new CrabcodeError(
    "SELECTION_INVALID",
    request.multiple
      ? "selected must be some of the offered options"
      : "selected must be one of the offered options",
  );
}

function notPending(toolUseId: string): CrabcodeError {
  return toolUseId.trim() === ""
    ? new CrabcodeError("FIELD_INVALID", "tool_use_id is blank", { field: "tool_use_id" })
    : new CrabcodeError("REQUEST_NOT_PENDING", "no question with that tool_use_id is waiting");
}
