import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { type PendingQuestion, QuestionKind, QuestionService } from "@trivium/proto/tools-questions";
import { type JsonValue, parseJsonField } from "@trivium/rpc";
import { sessionHeaders } from "./call-request.ts";
import { toSessionError } from "./session-errors.ts";

/** A question of a running call. */
export interface ToolQuestion {
  /** Of the call: the address of the answer. */
  readonly callId: string;
  /** Fully qualified id of the tool that asks. */
  readonly toolId: string;
  /** `unknown`: of a newer server. */
  readonly kind: "questions" | "plan-approval" | "unknown";
  /** `questions`: `[{ question, options, multi_select? }]`; `plan-approval`: `{ plan_content, plan_file_path }`. */
  readonly content: JsonValue;
  /** Milliseconds since the epoch. */
  readonly askedAtMs: number;
  /** When its call goes on without an answer. Undefined: never. */
  readonly expiresAtMs: number | undefined;
}

/** An answer to a set of questions, by the text of the question. */
export type QuestionsOutcome =
  | {
      readonly outcome: "accepted";
      /** Chosen labels; a free answer is the label `Other` with its text in the notes. */
      readonly answers: Readonly<Record<string, string | readonly string[]>>;
      readonly annotations?: Readonly<Record<string, { readonly preview?: string; readonly notes?: string }>>;
    }
  | {
      readonly outcome: "chat_about_this" | "skip_interview";
      readonly partial_answers?: Readonly<Record<string, string>>;
    }
  | { readonly outcome: "cancelled" };

/** An answer to a plan. */
export type PlanApprovalOutcome =
  | { readonly outcome: "approved" }
  | { readonly outcome: "cancelled"; readonly feedback?: string }
  | { readonly outcome: "abandoned" };

/** The questions that the tools of a session ask while their calls wait. */
export class ToolQuestions {
  readonly #rpc: Client<typeof QuestionService>;
  readonly #sessionId: string | undefined;

  /** Without a session id: the questions of the server's default session. */
  constructor(transport: Transport, { sessionId }: { readonly sessionId?: string | undefined } = {}) {
    this.#rpc = createClient(QuestionService, transport);
    this.#sessionId = sessionId;
  }

  /**
   * The questions that wait, the longest waiting first.
   *
   * @throws {@link NotFinalizedError} when the session has no tools yet.
   */
  async list(options: { signal?: AbortSignal } = {}): Promise<ToolQuestion[]> {
    try {
      const headers = sessionHeaders(this.#sessionId);
      const { questions } = await this.#rpc.listQuestions({}, { ...options, headers });
      return questions.map(toToolQuestion);
    } catch (thrown) {
      throw toSessionError(thrown);
    }
  }

  /**
   * Answers the question of a call, which goes on then.
   *
   * @throws {@link TriviumError} `notFound` when it does not wait (any more), `invalidInput` for an outcome that does
   * not fit the question; it waits on then.
   */
  async answer(
    callId: string,
    outcome: QuestionsOutcome | PlanApprovalOutcome,
    options: { signal?: AbortSignal } = {},
  ): Promise<void> {
    try {
      const headers = sessionHeaders(this.#sessionId);
      await this.#rpc.answerQuestion(
        { callId, outcomeJson: JSON.stringify(outcome) },
        { ...options, headers },
      );
    } catch (thrown) {
      throw toSessionError(thrown);
    }
  }
}

function toToolQuestion({
  callId,
  toolId,
  kind,
  contentJson,
  askedAt,
  expiresAt,
}: PendingQuestion): ToolQuestion {
  return {
    callId,
    toolId,
    kind: toKind(kind),
    content: parseJsonField("content_json", contentJson),
    askedAtMs: askedAt === undefined ? 0 : timestampMs(askedAt),
    expiresAtMs: expiresAt === undefined ? undefined : timestampMs(expiresAt),
  };
}

/** Enums are open on the wire. */
function toKind(kind: QuestionKind): ToolQuestion["kind"] {
  if (kind === QuestionKind.QUESTIONS) return "questions";
  return kind === QuestionKind.PLAN_APPROVAL ? "plan-approval" : "unknown";
}
