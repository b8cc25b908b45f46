import type { Clock, IdSource, Logger } from "@trivium/core";
import type { Conversation } from "../conversation/conversation.ts";
import type { Message } from "../conversation/message.ts";
import type { PermissionPolicy } from "../gates/permission-policy.ts";
import type { QuestionRegistry } from "../gates/question-registry.ts";
import type { LoopHooks } from "../hooks/session-hooks.ts";
import type { ModelLoop, ModelPort } from "../ports/model-port.ts";
import type { ToolboxPort } from "../ports/toolbox-port.ts";
import type { CompactionSettings } from "../settings/session-settings.ts";
import type { CellCalls } from "../tools/tool.ts";
import type { ToolSet } from "../tools/tool-set.ts";
import type { LoopEvents } from "./loop-events.ts";
import type { ResumableStep } from "./resumable-step.ts";

/** Keeps what a restart must know of a turn. Each call is durable when it returns. */
export interface LoopJournal {
  callStarted(toolUseId: string): void;
  progress(turnCount: number, usage: { input_tokens: number; output_tokens: number }): void;
}

/** The session around a loop, as its tools see it. */
export interface LoopWorkspace {
  readonly cwd: string;
  /** Folders beside `cwd` in which nothing is asked. */
  readonly additionalDirectories: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Opened once per session, with the first call that needs it. */
  toolbox(): Promise<ToolboxPort>;
  /** See `ToolContext.requestMode`. */
  requestMode(mode: "agent" | "plan"): boolean;
}

/** The questions of a session, as a loop asks them. */
export type LoopQuestions = Pick<
  QuestionRegistry,
  "announce" | "askPermission" | "askChoice" | "refuseUnasked" | "chooseUnasked"
>;

/** The call that works with cells. */
export interface CellCall {
  readonly toolUseId: string;
  readonly signal: AbortSignal;
}

/** The code cells of a loop; one object as long as their stored values live. */
export interface LoopCells {
  /** What a call of the loop may do with them. Programs it starts call the tools of `deps`. */
  callsOf(deps: LoopDeps, call: CellCall): CellCalls;
}

/** Where a run goes on that an earlier process began. */
export interface ResumedRun extends ResumableStep {
  readonly turnCount: number;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}

/** Everything one run of a loop works with; the same for the main loop and for agents. */
export interface LoopDeps {
  readonly loop: ModelLoop;
  readonly model: ModelPort;
  readonly events: LoopEvents;
  readonly conversation: Conversation;
  readonly operationId: string;
  /** Mode at the start of the run; what is offered stays as it is until the next. */
  readonly mode: "agent" | "plan";
  readonly system: readonly string[];
  /** A message before the history, in requests only. */
  readonly userContext: string | undefined;
  readonly tools: ToolSet;
  readonly policy: PermissionPolicy;
  readonly questions: LoopQuestions;
  /** Absent: there are no code cells here. */
  readonly cells?: LoopCells | undefined;
  readonly workspace: LoopWorkspace;
  readonly hooks: LoopHooks;
  readonly compaction: CompactionSettings;
  readonly journal: LoopJournal;
  /** False: questions are settled as `auto`. */
  readonly isInteractive: boolean;
  /**
   * An interrupted tool that has not ended by then is left behind. Shorter for agents than for the loop that waits for
   * them, so that the turn ends within a second.
   */
  readonly stopGraceMs: number;
  /** UUID of the notification that the answers of this run reply to. */
  readonly replyTo: string | undefined;
  /** A message of the history that requests repeat behind what it holds at the start of the run. */
  readonly reminder: Message | undefined;
  /** 0 is for ever. */
  readonly questionTimeoutMs: number;
  /** 0 is no limit. */
  readonly toolCallTimeoutMs: number;
  /** The step the run begins with, when a restart cut it while it waited for an answer. */
  readonly resumed: ResumedRun | undefined;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}
