import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { abortable } from "@trivium/core";
import type { ResourceDefinition, SessionScope } from "../session-resource.ts";
import { logFolder } from "./log-folder.ts";

/** A profile that takes longer is done without. */
const CAPTURE_MS = 15_000;
/** More than any profile has to say. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/** What a profile has set up. */
export interface LoginState {
  readonly variables: Readonly<Record<string, string>>;
  /** Script that defines functions and aliases; undefined when there are none, or the shell is not bash. */
  readonly definitionsFile: string | undefined;
}

const nothing: LoginState = { variables: {}, definitionsFile: undefined };

type LoginScope = Pick<
  SessionScope,
  "programRunner" | "sessionDirectory" | "sessionFolder" | "sessionSignal" | "ids" | "logger"
>;

/**
 * What the user's profile makes of a shell, found out once per session and shell. Commands start faster than login
 * shells, and a profile that asks or prints something disturbs none of them.
 */
export class LoginShells {
  readonly #scope: LoginScope;
  readonly #states = new Map<string, Promise<LoginState>>();

  constructor(scope: LoginScope) {
    this.#scope = scope;
  }

  /**
   * The state a login shell of this program has. A profile that fails or hangs has none.
   *
   * @throws the reason of `signal` when it aborts first; others may wait on.
   */
  async state(
    program: string,
    { env, signal }: { readonly env: Readonly<Record<string, string>>; readonly signal: AbortSignal },
  ): Promise<LoginState> {
    let state = this.#states.get(program);
    if (state === undefined) {
      state = this.#capture(program, env).catch((cause: unknown) => {
        this.#scope.logger.warn({ program, cause }, "the profile of the user could not be read");
        return nothing;
      });
      this.#states.set(program, state);
    }
    return await abortable(state, signal);
  }

  async #capture(program: string, env: Readonly<Record<string, string>>): Promise<LoginState> {
    const { programRunner, sessionDirectory, sessionFolder, sessionSignal, ids } = this.#scope;
    const isBash = basename(program) === "bash";
    // Whatever the profile prints itself comes before the first mark.
    const mark = ids.hex(16);
    const definitions = isBash ? "builtin alias -p; builtin declare -f" : ":";
    const script = `printf '\\0%s\\0' ${mark}; command env -0; printf '%s\\0' ${mark}; ${definitions}`;
    const running = await programRunner.run({
      argv: [program, "-l", "-c", script],
      workingDirectory: sessionDirectory,
      env,
      timeoutMs: CAPTURE_MS,
      signal: sessionSignal,
    });
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of running.stdout) {
      length += chunk.length;
      // Leaving the loop stops the shell.
      if (length > MAX_OUTPUT_BYTES) break;
      chunks.push(chunk);
    }
    const { reason } = await running.ended;
    const [, variables, written] = Buffer.concat(chunks)
      .toString("utf8")
      .split(new RegExp(`\\0?${mark}\\0`));
    if (variables === undefined || written === undefined) throw new Error(`the login shell ended: ${reason}`);
    const own = toVariables(variables, env);
    if (written.trim() === "") return { variables: own, definitionsFile: undefined };
    const folder = logFolder(sessionFolder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const definitionsFile = join(folder, `.login-${basename(program)}`);
    await writeFile(definitionsFile, `builtin shopt -s expand_aliases\n${written}`, { mode: 0o600 });
    return { variables: own, definitionsFile };
  }
}

/** Those that belong to one process or to a place the commands do not have are left out. */
const UNKEPT =
  /^(_|_TRIVIUM_.*|PWD|OLDPWD|SHLVL|BASH_FUNC_.*|.*_proxy|GROK_SANDBOX.*|GROK_AGENT|SUDO_ASKPASS|SSH_ASKPASS|GROK_ASKPASS|ELECTRON_RUN_AS_NODE|SSH_AUTH_SOCK|DBUS_SESSION_BUS_ADDRESS|XDG_RUNTIME_DIR|WAYLAND_DISPLAY|GPG_TTY)$/i;

/** What the shell was given itself is no doing of the profile: other tools of the session may not have it. */
function toVariables(listed: string, given: Readonly<Record<string, string>>): Record<string, string> {
  const entries = listed.split("\0").flatMap((line): [string, string][] => {
    const at = line.indexOf("=");
    const [name, value] = [line.slice(0, at), line.slice(at + 1)];
    const isKept = at > 0 && /^\w+$/.test(name) && !UNKEPT.test(name) && given[name] !== value;
    return isKept ? [[name, value]] : [];
  });
  return Object.fromEntries(entries);
}

/** What profiles make of the shells of a session. */
export const loginShells: ResourceDefinition<LoginShells> = {
  name: "login shells",
  create: (scope) => new LoginShells(scope),
};
