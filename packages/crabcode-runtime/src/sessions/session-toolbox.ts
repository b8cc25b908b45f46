import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { type Clock, sleep } from "@trivium/core";
import type { ToolboxPort } from "../ports/toolbox-port.ts";
import type { LoopWorkspace } from "../turn/loop-deps.ts";
import type { SessionEnvironment, SessionParts } from "./session-deps.ts";

/** A closing session waits this long for a toolbox that is still being opened. */
const OPEN_GRACE_MS = 1_000;

/** The folders of one session and its toolbox, opened with the first call that needs it. */
export class SessionToolbox implements LoopWorkspace, AsyncDisposable {
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly requestMode: LoopWorkspace["requestMode"];
  readonly #open: () => Promise<ToolboxPort>;
  readonly #clock: Clock;
  #toolbox: Promise<ToolboxPort> | undefined;
  #isDisposed = false;

  constructor(
    { openToolbox, clock }: Pick<SessionEnvironment, "openToolbox" | "clock">,
    { sessionId, cwd, settings }: Pick<SessionParts, "sessionId" | "cwd" | "settings">,
    requestMode: LoopWorkspace["requestMode"],
  ) {
    this.cwd = cwd;
    this.#clock = clock;
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
    const opening = this.#toolbox;
    if (opening === undefined) return;
    const done = new AbortController();
    // The sleep rejects when it is not needed any more.
    const isLate = sleep(this.#clock, OPEN_GRACE_MS, done.signal).then(
      () => "late" as const,
      () => undefined,
    );
    // One that could not be opened has nothing to release; its calls have been told.
    const toolbox = await Promise.race([opening.catch(() => undefined), isLate]);
    done.abort();
    if (toolbox !== "late") return toolbox?.[Symbol.asyncDispose]();
    // Whoever opens it in the end finds nobody; what it holds is given back all the same.
    void opening.then((late) => late[Symbol.asyncDispose]()).catch(() => {});
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
