import { create } from "@bufbuild/protobuf";
import {
  type AcknowledgeNotificationRequest,
  type AcknowledgeNotificationResponse,
  AcknowledgeNotificationResponseSchema,
} from "@trivium/proto/code-mode";
import { requireUuid } from "./identifiers.ts";
import { type CodeModeServiceDeps, requireSession } from "./service-deps.ts";

/** AcknowledgeNotification: any UUID is fine, and nothing waits for it: programs do not. */
export function acknowledgeNotification(
  { runtime }: CodeModeServiceDeps,
  request: AcknowledgeNotificationRequest,
): AcknowledgeNotificationResponse {
  requireSession(runtime, request.sessionId);
  requireUuid("notification_id", request.notificationId);
  return create(AcknowledgeNotificationResponseSchema);
}
