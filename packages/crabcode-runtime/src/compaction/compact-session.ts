import { abortable, abortReason, linkSignals } from "@trivium/core";
import { CrabcodeError } from "../crabcode-error.ts";
import { type HookHost, sessionHooks } from "../hooks/session-hooks.ts";
import type { ModelPort } from "../ports/model-port.ts";
import type { SessionEnvironment, SessionParts } from "../sessions/session-deps.ts";
import { STOP_GRACE_MS } from "../sessions/stop-grace.ts";
import { LoopEvents } from "../turn/loop-events.ts";
import { type CompactionResult, compactHistory, MIN_MESSAGES } from "./compact-history.ts";

/** What a person asks for. */
export interface CompactInput {
  /** For the summary; "" for none. */
  readonly instructions: string;
  /** Ends the call; then nothing has changed. */
  readonly signal?: AbortSignal | undefined;
}

/** Messages that the model is sent. */
export interface CompactedSession {
  readonly messageCountBefore: number;
  /** As before when a summary would not be smaller. */
  readonly messageCountAfter: number;
}

/** What of a session its compaction works with. */
export interface CompactionHost {
  readonly sessionId: string;
  readonly environment: SessionEnvironment;
  readonly parts: SessionParts;
  readonly workspace: HookHost["workspace"];
  readonly modelProfile: string;
  betweenTurns<Result>(job: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** @throws CrabcodeError when the active profile cannot be used */
  openModel(): ModelPort;
}

/**
 * Compacts the main conversation of a session once no turn runs. Durable, and its event published, when it resolves.
 *
 * @throws CrabcodeError NOTHING_TO_COMPACT, SUMMARY_FAILED, SHUTTING_DOWN, PROFILE_UNUSABLE; the
 * reason of the signal
 */
export async function compactSession(host: CompactionHost, input: CompactInput): Promise<CompactedSession> {
  const { signal } = input;
  const compacted = host.betweenTurns(async (closing) => {
    using linked = linkSignals([closing, signal]);
    return await compactNow(host, { instructions: input.instructions, signal: linked.signal });
  });
  return signal === undefined ? compacted : abortable(compacted, signal);
}

async function compactNow(
  host: CompactionHost,
  { instructions, signal }: { readonly instructions: string; readonly signal: AbortSignal },
): Promise<CompactedSession> {
  const { environment, parts, sessionId } = host;
  const { conversation, bus } = parts;
  if (signal.aborted) throw abortReason(signal);
  const messageCountBefore = conversation.messages.length;
  if (messageCountBefore < MIN_MESSAGES) {
    const message = `there is nothing to compact: fewer than ${MIN_MESSAGES} messages`;
    throw new CrabcodeError("NOTHING_TO_COMPACT", message, host);
  }
  if (conversation.openCalls.length > 0) {
    const message = "the last turn left calls without results; send a message first";
    throw new CrabcodeError("SUMMARY_FAILED", message, host);
  }
  const model = host.openModel();
  const result = await compactHistory(
    {
      model,
      loop: { sessionId, agentNumber: null, profile: host.modelProfile },
      conversation,
      events: new LoopEvents(bus, { agentId: null, context: {} }),
      hooks: sessionHooks(host, STOP_GRACE_MS),
      clock: environment.clock,
      ids: environment.ids,
      logger: environment.logger,
    },
    {
      trigger: "manual",
      windowTokens: model.contextWindowTokens,
      enoughTokens: undefined,
      minSummarisedTokens: 0,
      instructions: instructions.toWellFormed(),
      signal,
    },
  );
  assertDone(result, host);
  await bus.flush();
  await conversation.sync();
  return { messageCountBefore, messageCountAfter: conversation.messages.length };
}

function assertDone(result: CompactionResult, host: CompactionHost): void {
  if (result.kind === "blocked") {
    throw new CrabcodeError("SUMMARY_FAILED", `a hook blocked the compaction: ${result.message}`, host);
  }
  if (result.kind === "failed") {
    throw new CrabcodeError("SUMMARY_FAILED", `no summary could be made: ${result.message}`, host);
  }
}
