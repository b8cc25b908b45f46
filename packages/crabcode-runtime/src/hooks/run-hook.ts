import { abortReason, type Clock, type Logger } from "@trivium/core";
import type { CommandResult, ToolboxResult } from "../ports/toolbox-port.ts";
import type { HookEntry, HookEvent } from "../settings/hook-settings.ts";
import type { LoopWorkspace } from "../turn/loop-deps.ts";
import { withGrace } from "../turn/with-grace.ts";

/** Characters kept of each stream of a hook; more than any feedback may have. */
const MAX_STREAM_CHARS = 20_000;
/** The kernel refuses a variable of 128 KiB; the payload is on standard input in any case. */
const MAX_VARIABLE_BYTES = 96 * 1024;

/** What a hook is told. */
export interface HookCall {
  readonly event: HookEvent;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly toolName?: string;
  readonly toolUseId?: string;
  readonly agentId: string | null;
  readonly signal: AbortSignal;
}

/** What hooks run with. */
export interface HookDeps {
  readonly workspace: Pick<LoopWorkspace, "toolbox" | "environment">;
  /** A hook that does not end after an interrupt is left behind then; its toolbox still ends it. */
  readonly stopGraceMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How one hook ended. */
export interface HookEnd {
  readonly hasFailed: boolean;
  /** What it said, or why it failed when it said nothing. */
  readonly text: string;
}

/**
 * Runs the command of one hook in the folder of the session.
 *
 * @throws the reason of the call's signal, nothing else
 */
export async function runHook(deps: HookDeps, entry: HookEntry, call: HookCall): Promise<HookEnd> {
  const { event, signal } = call;
  const input = JSON.stringify(call.payload);
  let done: ToolboxResult<CommandResult> | undefined;
  try {
    done = await withGrace(deps, start(deps, entry, { call, input }), signal);
  } catch (cause) {
    if (!signal.aborted)
      deps.logger.warn({ event, command: entry.command, cause }, "a hook could not be run");
  }
  if (signal.aborted) throw abortReason(signal);
  if (done === undefined) return { hasFailed: true, text: "the hook could not be run" };
  if (done.kind === "failure") return { hasFailed: true, text: `the hook could not be run: ${done.message}` };
  const said = (done.stdout.trim() === "" ? done.stderr : done.stdout).trim().toWellFormed();
  if (done.isTimedOut) {
    const text = `the hook did not end within ${entry.timeoutMs / 1000} s`;
    return { hasFailed: true, text: said === "" ? text : `${said}\n${text}` };
  }
  if (done.exitCode === 0) return { hasFailed: false, text: said };
  const how = done.exitCode === null ? `signal ${done.signal ?? "unknown"}` : `exit code ${done.exitCode}`;
  return { hasFailed: true, text: said === "" ? `the hook ended with ${how}` : said };
}

async function start(
  { workspace }: HookDeps,
  entry: HookEntry,
  { call, input }: { call: HookCall; input: string },
): Promise<ToolboxResult<CommandResult>> {
  const { signal } = call;
  const toolbox = await workspace.toolbox();
  if (signal.aborted) throw abortReason(signal);
  return toolbox.runCommand({
    command: entry.command,
    input,
    environment: { ...workspace.environment, ...variablesOf(call, input) },
    timeoutMs: entry.timeoutMs,
    maxOutputChars: MAX_STREAM_CHARS,
    signal,
  });
}

function variablesOf(call: HookCall, payload: string): Record<string, string> {
  const variables = {
    CRABCODE_HOOK_EVENT: call.event,
    CRABCODE_HOOK_TOOL_NAME: call.toolName ?? "",
    CRABCODE_HOOK_TOOL_USE_ID: call.toolUseId ?? "",
    CRABCODE_HOOK_AGENT_ID: call.agentId ?? "",
    ...(Buffer.byteLength(payload) <= MAX_VARIABLE_BYTES && { CRABCODE_HOOK_PAYLOAD: payload }),
  };
  // Ids come from the provider, and a variable ends at its first NUL.
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, value.replaceAll("\0", "")]),
  );
}
