import { relative } from "node:path";
import type { ToolInput } from "../conversation/message.ts";
import type { PermissionMode, PermissionRule, PermissionSettings } from "../settings/session-settings.ts";
import { commandPermissionKey, permissionKey } from "./permission-key.ts";
import { commandParts, isCompound } from "./shell-command.ts";
import { matchesWildcard } from "./wildcard.ts";

/** What is to become of a call. */
export interface PermissionDecision {
  readonly behavior: "allow" | "ask" | "deny";
  /** For people; absent when the mode alone decides. */
  readonly reason?: string;
  /** What "always allow" would grant. */
  readonly key: string;
}

/** A call as far as permissions see it. */
export interface PermissionSubject {
  readonly tool: string;
  readonly isReadOnly: boolean;
  readonly input: ToolInput;
  /** Absolute target of a file tool, symbolic links resolved. */
  readonly targetPath?: string | undefined;
  /** Folder of the target when it lies outside the workspace. */
  readonly outsideFolder?: string | undefined;
  /** The input is a command, whatever the tool is called. */
  readonly runsCommands?: boolean | undefined;
  /** The tool's own wish. Default: it has none. */
  readonly opinion?: "allow" | "ask" | "deny" | undefined;
}

type Behavior = PermissionDecision["behavior"];

const STRENGTH: Record<Behavior, number> = { allow: 0, ask: 1, deny: 2 };

/** Rules, mode and grants of one session, shared with its agents. */
export class PermissionPolicy {
  readonly #settings: PermissionSettings;
  readonly #cwd: string;
  readonly #grants = new Set<string>();
  /** Plan mode of the session; wins over the mode of the settings. */
  isPlanMode = false;

  constructor(settings: PermissionSettings, cwd: string) {
    this.#settings = settings;
    this.#cwd = cwd;
  }

  get mode(): PermissionMode {
    return this.isPlanMode ? "plan" : this.#settings.mode;
  }

  /** Remembers an "always" until the session is unloaded. */
  grant(key: string): void {
    this.#grants.add(key);
  }

  decide(subject: PermissionSubject): PermissionDecision {
    const { tool, input, outsideFolder } = subject;
    const key =
      subject.runsCommands === true
        ? commandPermissionKey(tool, input)
        : permissionKey(tool, input, outsideFolder);
    if (this.mode === "plan" && !subject.isReadOnly) {
      return { behavior: "deny", key, reason: "plan mode allows read-only tools only" };
    }
    if (this.#matches(this.#settings.deny, subject, "every-part")) {
      return { behavior: "deny", key, reason: "denied by a rule" };
    }
    if (this.mode === "bypassPermissions") return { behavior: "allow", key };
    if (this.#grants.has(key) || this.#matches(this.#settings.allow, subject, "simple-only")) {
      return { behavior: "allow", key };
    }
    const opinion = outsideFolder === undefined ? (subject.opinion ?? "allow") : "ask";
    const wanted = stronger(this.#byMode(subject), opinion);
    // Nobody is asked in this mode, whoever wants to.
    const behavior = wanted === "ask" && this.mode === "dontAsk" ? "deny" : wanted;
    return {
      behavior,
      key,
      ...(outsideFolder !== undefined && { reason: "outside workspace" }),
      ...(outsideFolder === undefined && behavior === "deny" && { reason: "nothing is asked in this mode" }),
    };
  }

  #byMode(subject: PermissionSubject): Behavior {
    if (this.#matches(this.#settings.ask, subject, "every-part")) return "ask";
    // A tool with a wish of its own is decided by that wish.
    if (subject.isReadOnly || subject.opinion !== undefined) return "allow";
    if (this.mode === "acceptEdits") return "allow";
    return this.mode === "dontAsk" ? "deny" : "ask";
  }

  #matches(
    rules: readonly PermissionRule[],
    subject: PermissionSubject,
    commands: "every-part" | "simple-only",
  ): boolean {
    return rules.some(
      (rule) =>
        matchesWildcard(rule.tool, subject.tool) &&
        (rule.path === undefined || this.#matchesPath(rule.path, subject)) &&
        (rule.command === undefined || matchesCommand(rule.command, subject.input, commands)),
    );
  }

  #matchesPath(pattern: string, { targetPath, input }: PermissionSubject): boolean {
    const written = input["file_path"] ?? input["path"];
    const path = targetPath ?? (typeof written === "string" ? written : undefined);
    if (path === undefined) return false;
    return matchesWildcard(pattern, path) || matchesWildcard(pattern, relative(this.#cwd, path));
  }
}

function matchesCommand(pattern: string, input: ToolInput, commands: "every-part" | "simple-only"): boolean {
  const command = input["command"];
  if (typeof command !== "string") return false;
  if (commands === "simple-only") return !isCompound(command) && matchesWildcard(pattern, command.trim());
  return commandParts(command).some((part) => matchesWildcard(pattern, part));
}

function stronger(first: Behavior, second: Behavior): Behavior {
  return STRENGTH[first] >= STRENGTH[second] ? first : second;
}
