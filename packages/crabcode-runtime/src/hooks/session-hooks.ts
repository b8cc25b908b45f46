import { matchesWildcard } from "../gates/wildcard.ts";
import type { HookEntry, HookSettings } from "../settings/hook-settings.ts";
import { type HookCall, type HookDeps, runHook } from "./run-hook.ts";

const MAX_FEEDBACK_CHARS = 10_000;

/** What the hooks of one event decided. */
export interface HookVerdict {
  /** One of them failed; those after it did not run. */
  readonly isBlocked: boolean;
  /** What they said, in their order; "" when nothing. */
  readonly feedback: string;
}

/** What of a session its hooks work with. */
export interface HookHost {
  readonly parts: { readonly settings: { readonly hooks: HookSettings } };
  readonly environment: Pick<HookDeps, "clock" | "logger">;
  readonly workspace: HookDeps["workspace"];
}

const passed: HookVerdict = { isBlocked: false, feedback: "" };

/** The hooks of one loop. */
export type LoopHooks = Pick<SessionHooks, "run">;

/** For a loop that no settings belong to. */
export const noHooks: LoopHooks = { run: () => Promise.resolve(passed) };

/** Runs the hooks of a session for one of its loops. */
export class SessionHooks {
  readonly #settings: HookSettings;
  readonly #deps: HookDeps;

  constructor(settings: HookSettings, deps: HookDeps) {
    this.#settings = settings;
    this.#deps = deps;
  }

  /**
   * Runs the hooks of an event one after the other, in the order of the settings. Those that a matcher keeps for
   * other tools are left out.
   *
   * @throws the reason of the call's signal when it aborts, nothing else
   */
  async run(call: HookCall): Promise<HookVerdict> {
    const entries = (this.#settings.entries.get(call.event) ?? []).filter((entry) => fits(entry, call));
    if (entries.length === 0) return passed;
    const said: string[] = [];
    let isBlocked = false;
    for (const entry of entries) {
      const { hasFailed, text } = await runHook(this.#deps, entry, call);
      if (text !== "") said.push(text);
      isBlocked = hasFailed && !entry.continuesOnError;
      if (isBlocked) break;
    }
    return { isBlocked, feedback: limited(said.join("\n")) };
  }
}

/** The hooks of a session for one of its loops, whose interrupted hooks have `stopGraceMs` to end. */
export function sessionHooks({ parts, environment, workspace }: HookHost, stopGraceMs: number): SessionHooks {
  const { clock, logger } = environment;
  return new SessionHooks(parts.settings.hooks, { workspace, stopGraceMs, clock, logger });
}

/** The text of a hook as the model reads it; undefined when it said nothing. */
export function taggedFeedback(
  tag: "user-prompt-submit-hook" | "pre-tool-call-hook" | "post-tool-call-hook",
  { feedback }: HookVerdict,
): string | undefined {
  return feedback === "" ? undefined : `<${tag}>\n${feedback}\n</${tag}>`;
}

/** A hook with a matcher is for calls of certain tools only. */
function fits({ tools }: HookEntry, { toolName }: HookCall): boolean {
  if (tools === undefined) return true;
  return toolName !== undefined && tools.some((pattern) => matchesWildcard(pattern, toolName));
}

function limited(text: string): string {
  return text.length <= MAX_FEEDBACK_CHARS ? text : text.slice(0, MAX_FEEDBACK_CHARS).toWellFormed();
}
