import type { EnvironmentPolicy } from "../tool-settings.ts";
import type { ShellEnvironmentPolicy } from "./shell-params.ts";

/** What a command's environment is made of. */
export interface ShellEnvironmentSources {
  /** Variables of the server. */
  readonly server: Readonly<Record<string, string | undefined>>;
  /** The server's rules. */
  readonly policy: EnvironmentPolicy;
  /** Further names that are never passed on, for example those that hold the keys of configured providers. */
  readonly secretVariables?: readonly string[] | undefined;
  /** A toolset's changes to the rules. It can only narrow which names look like secrets. */
  readonly overrides?: ShellEnvironmentPolicy | null | undefined;
  /** What the user's profile sets; it adds to the rest, and its search path goes first. */
  readonly login?: Readonly<Record<string, string>> | undefined;
  /** Further variables of the caller; they pass the name rules, but need not be inherited. */
  readonly extra?: Readonly<Record<string, string>> | undefined;
  /** Long-running commands: output of Python programs is not held back. */
  readonly isBackground?: boolean | undefined;
}

/** Variables that most programs need and that hold no secrets. */
const CORE = [
  "PATH",
  "SHELL",
  "TMPDIR",
  "TEMP",
  "TMP",
  "HOME",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "LOGNAME",
  "USER",
];

const SECRET_PATTERNS = ["*KEY*", "*SECRET*", "*TOKEN*"];
/** Companies that run models, and clouds that do: what names one of them and a secret is a key for it. */
const PROVIDERS =
  "OPENAI|ANTHROPIC|CLAUDE|AZURE|GEMINI|GOOGLE|VERTEX|MISTRAL|COHERE|GROQ|XAI|GROK|DEEPSEEK|OPENROUTER|TOGETHER|FIREWORKS|PERPLEXITY|REPLICATE|BEDROCK|HF|HUGGING_?FACE|HUGGINGFACEHUB|CEREBRAS|NVIDIA|OLLAMA";
/** Never passed on, whatever the rules say: the server's own and the usual names of model providers' keys. */
const FORBIDDEN = new RegExp(
  [
    "^TRIVIUM_",
    "API_?(KEY|TOKEN)",
    "(AUTH|BEARER)_?TOKEN",
    "^AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|SECURITY_TOKEN)$",
    "^GOOGLE_APPLICATION_CREDENTIALS$",
    `(^|_)(${PROVIDERS})_(.*_)?(KEY|TOKEN|SECRET|CREDENTIALS?|PASSWORD)`,
  ].join("|"),
  "i",
);

/** Tells programs that nobody sits at a terminal. */
const TERMINAL = { TERM: "dumb", NO_COLOR: "1", FORCE_COLOR: "0", GROK_AGENT: "1" };

/** Keeps programs from waiting for a person: pagers, editors, questions. */
const UNATTENDED = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  GH_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  AWS_PAGER: "",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  EDITOR: "true",
  VISUAL: "true",
  GIT_TERMINAL_PROMPT: "0",
  GPG_TTY: "",
  SSH_ASKPASS_REQUIRE: "never",
  DEBIAN_FRONTEND: "noninteractive",
  PIP_NO_INPUT: "1",
  npm_config_yes: "true",
  GROK_AGENT: "1",
};

/** The complete environment of a command. Later rules win over earlier ones. */
export function buildShellEnvironment(sources: ShellEnvironmentSources): Record<string, string> {
  const { server, login = {}, extra = {}, isBackground = false } = sources;
  const policy = mergePolicy(sources.policy, sources.overrides ?? {});
  const environment: Record<string, string> = {};
  const add = (
    variables: Readonly<Record<string, string | undefined>>,
    isAllowed: (name: string) => boolean,
  ): void => {
    for (const [name, value] of Object.entries(variables)) {
      if (value !== undefined && isAllowed(name)) environment[name] = value;
    }
  };
  const isForbidden = forbiddenRule(sources.secretVariables ?? []);
  const rule = nameRule(policy);
  const passes = (name: string): boolean => !isForbidden(name) && rule(name);
  add(server, (name) => inherits(policy, name) && passes(name));
  add(policy.set, (name) => !isForbidden(name));
  add(login, (name) => passes(name) && !Object.hasOwn(environment, name));
  Object.assign(environment, TERMINAL);
  add(extra, passes);
  Object.assign(environment, UNATTENDED);
  environment["GIT_SSH_COMMAND"] ??= "ssh -oBatchMode=yes";
  if (isBackground) environment["PYTHONUNBUFFERED"] ??= "1";
  if (login["PATH"] !== undefined) environment["PATH"] = joinedPath(login["PATH"], environment["PATH"] ?? "");
  // Without a search path not even the shell is found.
  environment["PATH"] ??= "/usr/local/bin:/usr/bin:/bin";
  return environment;
}

/** The folders of both, each once, those of the first path first. */
function joinedPath(first: string, second: string): string {
  return [...new Set([...first.split(":"), ...second.split(":")])]
    .filter((folder) => folder !== "")
    .join(":");
}

function mergePolicy(policy: EnvironmentPolicy, overrides: ShellEnvironmentPolicy): EnvironmentPolicy {
  return {
    inherit: overrides.inherit ?? policy.inherit,
    // A caller may be stricter than the server, never laxer.
    ignoreDefaultExcludes: policy.ignoreDefaultExcludes && (overrides.ignore_default_excludes ?? true),
    exclude: [...policy.exclude, ...(overrides.exclude ?? [])],
    set: { ...policy.set, ...overrides.set },
    includeOnly: overrides.include_only ?? policy.includeOnly,
  };
}

function inherits({ inherit }: EnvironmentPolicy, name: string): boolean {
  return inherit === "all" || (inherit === "core" && CORE.includes(name));
}

function forbiddenRule(secretVariables: readonly string[]): (name: string) => boolean {
  const named = new Set(secretVariables.map((name) => name.toUpperCase()));
  return (name) => named.has(name.toUpperCase()) || FORBIDDEN.test(name);
}

function nameRule({
  ignoreDefaultExcludes,
  exclude,
  includeOnly,
}: EnvironmentPolicy): (name: string) => boolean {
  const excluded = [...exclude, ...(ignoreDefaultExcludes ? [] : SECRET_PATTERNS)];
  return (name) => !matches(excluded, name) && (includeOnly.length === 0 || matches(includeOnly, name));
}

/** Patterns with `*` and `?`, without regard to case. */
function matches(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const source = pattern
      .replace(/[.+^${}()|[\]\\]/g, "\\$&")
      .replaceAll("*", ".*")
      .replaceAll("?", ".");
    return new RegExp(`^${source}$`, "i").test(name);
  });
}
