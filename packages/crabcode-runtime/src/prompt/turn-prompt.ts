import { abortable, type Clock, type Logger } from "@trivium/core";
import type { ModelPort } from "../ports/model-port.ts";
import type { RunProgram } from "../ports/program-port.ts";
import type { SessionSettings } from "../settings/session-settings.ts";
import type { ToolSet } from "../tools/tool-set.ts";
import { readGitStatus } from "./git-status.ts";
import { repositoryRoot } from "./repository-root.ts";
import { systemPrompt } from "./system-prompt.ts";
import { userContext } from "./user-context.ts";

/** What the prompts of a session are made of. */
export interface SessionPromptDeps {
  readonly cwd: string;
  readonly settings: Pick<SessionSettings, "language" | "promptProfile">;
  readonly runProgram: RunProgram | undefined;
  readonly userFolder: string | undefined;
  readonly homeFolder: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What is sent besides the history in each request of a turn. */
export interface TurnPrompt {
  /** The mode it is for. */
  readonly mode: "agent" | "plan";
  readonly system: readonly string[];
  readonly userContext: string;
}

/** Makes the prompts of one session. The state of its repository is read once, with the first turn. */
export class SessionPrompt {
  readonly #deps: SessionPromptDeps;
  #gitStatus: Promise<string | undefined> | undefined;

  constructor(deps: SessionPromptDeps) {
    this.#deps = deps;
  }

  /** @param signal a turn that is interrupted does not wait for the repository */
  async forTurn(
    { mode, model, tools }: { mode: "agent" | "plan"; model: Pick<ModelPort, "model">; tools: ToolSet },
    signal: AbortSignal,
  ): Promise<TurnPrompt> {
    const { cwd, settings, userFolder, homeFolder, clock, runProgram: run, logger } = this.#deps;
    this.#gitStatus ??= readGitStatus({ run, cwd, logger });
    const gitStatus = await abortable(this.#gitStatus, signal).catch(() => undefined);
    return {
      mode,
      system: systemPrompt({
        cwd,
        mode,
        model: model.model,
        platform: process.platform,
        language: settings.language,
        isRepository: repositoryRoot(cwd) !== undefined,
        toolNames: tools.offered(mode).map(({ name }) => name),
        profile: settings.promptProfile,
        gitStatus,
      }),
      userContext: userContext({ cwd, nowMs: clock.now(), userFolder, homeFolder }),
    };
  }
}
