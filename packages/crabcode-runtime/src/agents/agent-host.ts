import type { PermissionPolicy } from "../gates/permission-policy.ts";
import type { QuestionRegistry } from "../gates/question-registry.ts";
import type { ModelPort } from "../ports/model-port.ts";
import type { SessionEnvironment, SessionParts } from "../sessions/session-deps.ts";
import type { SessionTools } from "../tools/session-tools.ts";
import type { LoopWorkspace } from "../turn/loop-deps.ts";

/** What of a session its agents work with. */
export interface AgentHost {
  readonly environment: SessionEnvironment;
  readonly parts: SessionParts;
  readonly policy: PermissionPolicy;
  readonly questions: QuestionRegistry;
  readonly tools: SessionTools;
  readonly workspace: LoopWorkspace;
  readonly modelProfile: string;
  readonly isClosing: boolean;
  /** Whether a turn that a client began runs, so that events of its agents belong to it. */
  isForeground(operationId: string): boolean;
  /** @throws CrabcodeError PROFILE_UNUSABLE */
  openProfile(profile: string): ModelPort;
  /** @throws CrabcodeError when the profile of the session cannot be used */
  openModel(): ModelPort;
  /** Results wait for the main loop: a turn is to take them in, when its time comes. */
  requestCallbackTurn(): void;
}
