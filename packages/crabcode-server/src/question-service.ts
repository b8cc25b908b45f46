import { create } from "@bufbuild/protobuf";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { silentLogger } from "@trivium/core";
import { CrabcodeError, type CrabcodeQuestions, type PendingQuestion } from "@trivium/crabcode-runtime";
import {
  type ListQuestionsRequest,
  type ListQuestionsResponse,
  ListQuestionsResponseSchema,
  type Question,
  QuestionKind,
  QuestionSchema,
  QuestionService,
} from "@trivium/proto/crabcode-questions";
import { metadataKeys } from "./metadata.ts";
import { EXTENSION_DOMAIN, type ExtensionServiceDeps, unary } from "./status.ts";
import { toTimestamp } from "./wire-session.ts";

/** The tool behind every choice. */
const CHOICE_TOOL = "AskUser";

/** Adds trivium.crabcode.v1.QuestionService to a router. Authentication is the endpoint's. */
export function questionService({
  runtime: { questions },
  logger = silentLogger,
}: ExtensionServiceDeps): (router: ConnectRouter) => void {
  return (router) => {
    router.service(QuestionService, {
      listQuestions: unary(
        logger,
        (request, context) => listQuestions(questions, request, context),
        EXTENSION_DOMAIN,
      ),
    });
  };
}

/** ListQuestions: what waits for an answer now. */
async function listQuestions(
  questions: CrabcodeQuestions,
  { sessionId, kind, pageSize, pageToken }: ListQuestionsRequest,
  { responseHeader }: Pick<HandlerContext, "responseHeader">,
): Promise<ListQuestionsResponse> {
  const wanted = toKind(kind);
  const page = await questions.list({
    ...(sessionId !== undefined && { sessionId }),
    ...(wanted !== undefined && { kind: wanted }),
    pageSize,
    pageToken,
  });
  if (page.sessionId !== undefined) responseHeader.set(metadataKeys.sessionId, page.sessionId);
  return create(ListQuestionsResponseSchema, {
    questions: page.questions.map(toWire),
    nextPageToken: page.nextPageToken,
  });
}

function toKind(kind: QuestionKind): "permission" | "choice" | undefined {
  switch (kind) {
    case QuestionKind.UNSPECIFIED:
      return undefined;
    case QuestionKind.PERMISSION:
      return "permission";
    case QuestionKind.CHOICE:
      return "choice";
    // Numbers of a newer contract.
    default:
      throw new CrabcodeError("FIELD_INVALID", "kind names an unknown kind", { field: "kind" });
  }
}

function toWire({ sessionId, event, agentPath }: PendingQuestion): Question {
  const askedAt = toTimestamp(event.ts);
  const expiresAt = toTimestamp(event.expires_at ?? undefined);
  const { agent_id: agentId, parent_tool_use_id: parentToolUseId } = event;
  const common = {
    sessionId,
    toolUseId: event.tool_use_id,
    ...(agentId !== null && { agentId }),
    ...(askedAt !== undefined && { askedAt }),
    ...(expiresAt !== undefined && { expiresAt }),
    seq: BigInt(event.seq),
    epoch: event.epoch,
    ...(parentToolUseId !== undefined && { parentToolUseId }),
    agentPath: [...agentPath],
  };
  if (event.type === "choice_request") {
    return create(QuestionSchema, {
      ...common,
      kind: QuestionKind.CHOICE,
      toolName: CHOICE_TOOL,
      question: event.question,
      options: [...event.options],
      multiple: event.multiple,
      requestKind: "tool",
    });
  }
  const { reason, permission_key: permissionKey } = event;
  return create(QuestionSchema, {
    ...common,
    kind: QuestionKind.PERMISSION,
    toolName: event.tool_name,
    toolInputJson: JSON.stringify(event.tool_input),
    ...(reason !== null && { reason }),
    ...(permissionKey !== null && { permissionKey }),
    requestKind: event.request_kind,
  });
}
