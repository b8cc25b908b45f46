import { OutsideGate } from "../gates/outside-gate.ts";
import type { PermissionPolicy } from "../gates/permission-policy.ts";
import { type QuestionRegistry, questionKey } from "../gates/question-registry.ts";
import type { SessionEnvironment, SessionParts } from "./session-deps.ts";

/** What the gate is made of. */
interface GateHost {
  readonly environment: Pick<SessionEnvironment, "store">;
  readonly parts: Pick<SessionParts, "sessionId" | "settings">;
  readonly policy: PermissionPolicy;
  readonly questions: QuestionRegistry;
}

/** The gate of a session, with what is kept of its questions. */
export function openOutsideGate({ environment, parts, policy, questions }: GateHost): OutsideGate {
  const { store } = environment;
  const { sessionId, settings } = parts;
  return new OutsideGate({
    policy,
    questions,
    timeoutMs: settings.permissions.requestTimeoutMs,
    journal: {
      asked(request) {
        const { tool_use_id: toolUseId } = request;
        // Callers may use an id again; that the one before was settled says nothing of this one.
        store.removeSettledQuestion(sessionId, questionKey(null, toolUseId));
        store.addOutsideQuestion(sessionId, { toolUseId, request: JSON.stringify(request) });
      },
      settled: (toolUseId) => store.removeOutsideQuestion(sessionId, toolUseId),
      unsettled: () => store.outsideQuestions(sessionId),
    },
  });
}
