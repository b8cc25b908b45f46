import type { Client } from "@connectrpc/connect";
import { type Question, QuestionKind, type QuestionService } from "@trivium/proto/crabcode-questions";
import { mapped, withSignal } from "./call-settings.ts";
import type { PageSettings } from "./session-calls.ts";
import { parsed, toDate, toNumber } from "./session-snapshot.ts";

interface Asked {
  readonly sessionId: string;
  /** With `agentId` and `sessionId` the address of the answer. */
  readonly toolUseId: string;
  /** Undefined: the main loop. */
  readonly agentId: string | undefined;
  readonly askedAt: Date;
  /** Undefined: never. */
  readonly expiresAt: Date | undefined;
  /** The event that asked. */
  readonly seq: number;
  readonly epoch: string;
  /** The call of a code cell that the asking call is part of. */
  readonly parentToolUseId: string | undefined;
  /** From the root agent down to the one that asks; empty for the main loop. */
  readonly agentPath: readonly string[];
}

/** A question that waits for leave to run a tool; answer it with `respondPermission`. */
export interface WaitingPermission extends Asked {
  readonly kind: "permission";
  readonly toolName: string;
  readonly toolInput: unknown;
  readonly reason: string | undefined;
  /** What `always` would allow. */
  readonly permissionKey: string | undefined;
  /** `tool` or `peer_message`. */
  readonly requestKind: string;
}

/** A question that waits for a choice; answer it with `respondChoice`. */
export interface WaitingChoice extends Asked {
  readonly kind: "choice";
  readonly question: string;
  readonly options: readonly string[];
  readonly isMultiple: boolean;
}

/** What waits for an answer. */
export type WaitingQuestion = WaitingPermission | WaitingChoice;

/** Options of {@link QuestionCalls.list}. */
export interface ListQuestionsOptions extends PageSettings {
  /** Absent: all sessions; "": the default session. */
  readonly sessionId?: string | undefined;
  /** Absent: both. */
  readonly kind?: "permission" | "choice" | undefined;
}

/** One page of questions, the longest waiting first. */
export interface QuestionList {
  readonly questions: readonly WaitingQuestion[];
  /** "" at the end. */
  readonly nextPageToken: string;
}

/** The questions that wait for an answer on a server. */
export class QuestionCalls {
  readonly #client: Client<typeof QuestionService>;

  constructor(client: Client<typeof QuestionService>) {
    this.#client = client;
  }

  async list(options: ListQuestionsOptions = {}): Promise<QuestionList> {
    const { sessionId, kind, pageSize = 0, pageToken = "", signal } = options;
    const kinds = { permission: QuestionKind.PERMISSION, choice: QuestionKind.CHOICE };
    const request = {
      ...(sessionId !== undefined && { sessionId }),
      kind: kind === undefined ? QuestionKind.UNSPECIFIED : kinds[kind],
      pageSize,
      pageToken,
    };
    const page = await mapped(this.#client.listQuestions(request, withSignal(signal)));
    return { questions: page.questions.flatMap(toQuestion), nextPageToken: page.nextPageToken };
  }
}

/** Nothing for a kind of a newer server, which this client could not answer. */
function toQuestion(question: Question): WaitingQuestion[] {
  const { sessionId, toolUseId, agentId, epoch, parentToolUseId, agentPath } = question;
  const asked: Asked = {
    sessionId,
    toolUseId,
    agentId,
    askedAt: toDate(question.askedAt) ?? new Date(0),
    expiresAt: toDate(question.expiresAt),
    seq: toNumber("seq", question.seq),
    epoch,
    parentToolUseId,
    agentPath,
  };
  switch (question.kind) {
    case QuestionKind.PERMISSION: {
      const { toolName, toolInputJson, reason, permissionKey, requestKind } = question;
      const toolInput = parsed(toolInputJson);
      return [{ ...asked, kind: "permission", toolName, toolInput, reason, permissionKey, requestKind }];
    }
    case QuestionKind.CHOICE: {
      const { options, multiple: isMultiple } = question;
      return [{ ...asked, kind: "choice", question: question.question, options, isMultiple }];
    }
    case QuestionKind.UNSPECIFIED:
    default:
      return [];
  }
}
