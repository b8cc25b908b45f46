import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { ToolboxPort } from "../ports/toolbox-port.ts";
import type { LoopWorkspace } from "../turn/loop-deps.ts";
import type { SessionEnvironment, SessionParts } from "./session-deps.ts";

/** The folders of one session and its toolbox, opened with the first call that needs it. */
export class SessionToolbox implements LoopWorkspace, AsyncDisposable {
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly requestMode: LoopWorkspace["requestMode"];
  readonly #open: () => Promise<ToolboxPort>;
  #toolbox: Promise<ToolboxPort> | undefined;
  #isDisposed = false;

  constructor(
    { openToolbox }: Pick<SessionEnvironment, "openToolbox">,
    { sessionId, cwd, settings }: Pick<SessionParts, "sessionId" | "cwd" | "settings">,
    requestMode: LoopWorkspace["requestMode"],
  ) {
    this.cwd = cwd;
    this.environment = settings.environment;
    this.requestMode = requestMode;
    this.additionalDirectories = settings.permissions.additionalDirectories.map((folder) =>
      realPath(resolve(cwd, folder)),
    );
    const { additionalDirectories } = this;
    this.#open = () => openToolbox({ sessionId, cwd, additionalDirectories });
  }

  toolbox(): Promise<ToolboxPort> {
    if (this.#isDisposed) return Promise.reject(new Error("the session is closed"));
    if (this.#toolbox !== undefined) return this.#toolbox;
    const opening = this.#open();
    this.#toolbox = opening;
    opening.catch(() => {
      // The next call tries again.
      if (this.#toolbox === opening) this.#toolbox = undefined;
    });
    return opening;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    // One that could not be opened has nothing to release; its calls have been told.
    const toolbox = await this.#toolbox?.catch(() => undefined);
    await toolbox?.[Symbol.asyncDispose]();
  }
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    // A folder that does not exist yet has no links to resolve.
    return folder;
  }
}
