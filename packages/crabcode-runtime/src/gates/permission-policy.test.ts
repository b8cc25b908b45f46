import { describe, expect, it } from "vitest";
import { parseSessionSettings } from "../settings/session-settings.ts";
import { permissionKey } from "./permission-key.ts";
import { PermissionPolicy, type PermissionSubject } from "./permission-policy.ts";
import { matchesWildcard } from "./wildcard.ts";

type Permissions = Record<string, unknown>;
type Case = [
  name: string,
  given: { settings?: Permissions; plan?: boolean; granted?: string[] },
  call: Call,
  string,
];
type Call = { tool: string; input: Record<string, unknown>; outside?: string };

const readOnly = new Set(["Read", "Grep", "Glob", "Code", "WebSearch"]);
const bash = (command: string): Call => ({ tool: "Bash", input: { command } });
const file = (tool: string, path: string): Call => ({ tool, input: { file_path: path } });
const hostname: Call = { ...file("Read", "/etc/hostname"), outside: "/etc" };
const denyRm = { deny: [{ tool: "Bash", command: "rm *" }] };
const exactKey = /^Bash\(=[0-9a-f]{16}\)$/;
const allowGit = { allow: [{ tool: "Bash", command: "git *" }] };

const cases: Case[] = [
  ["reading is allowed", {}, file("Read", "a.txt"), "allow"],
  ["writing asks", {}, file("Write", "a.txt"), "ask"],
  ["bypass allows", { settings: { run_everything: true } }, bash("rm x"), "allow"],
  [
    "bypass silences a tool's own wish",
    { settings: { run_everything: true } },
    { tool: "WebSearch", input: {} },
    "allow",
  ],
  ["a tool's own wish asks although it only reads", {}, { tool: "WebSearch", input: {} }, "ask"],
  ["item 6: plan mode denies, grants or not", { plan: true, granted: ["Write"] }, file("Write", "a"), "deny"],
  ["plan mode denies allow rules too", { plan: true, settings: allowGit }, bash("git status"), "deny"],
  ["deny beats allow", { settings: { allow: [{ tool: "Bash" }], ...denyRm } }, bash("rm -rf x"), "deny"],
  ["item 6: deny beats a grant", { settings: denyRm, granted: ["Bash(rm)"] }, bash("rm -rf x"), "deny"],
  ["deny sees parts of compound commands", { settings: denyRm }, bash("ls && rm -rf x"), "deny"],
  ["deny sees behind assignments", { settings: denyRm }, bash("A=1 B=2 rm -rf x"), "deny"],
  ["deny sees into substitutions", { settings: denyRm }, bash("echo $(rm -rf x)"), "deny"],
  ["an allow rule fits a simple command", { settings: allowGit }, bash("git status"), "allow"],
  [
    "item 8: an allow rule never covers a compound",
    { settings: allowGit },
    bash("git status; rm -rf x"),
    "ask",
  ],
  ...[
    "git status a ${x:=$'\\x24(touch${IFS}pwn)'}${x@P}",
    "git log $HOME",
    "git log `id`",
    "git log\nid",
    "git log & id",
    "git log > .bashrc",
    "git diff <(id)",
    "git log *",
    "git log -*",
    "git log '-'*",
    "git log [-]x",
    "git log {-x,y}",
  ].map(
    (command): Case => [
      `an allow rule does not fit ${command}`,
      { settings: allowGit },
      bash(command),
      "ask",
    ],
  ),
  ["an allow rule fits a quoted argument", { settings: allowGit }, bash("git commit -m 'a b'"), "allow"],
  ["an allow rule fits a pattern below a folder", { settings: allowGit }, bash("git add src/*.ts"), "allow"],
  ...["'rm' -rf x", "r\\m -rf x", "rm \\\n -rf x"].map(
    (command): Case => [
      `deny sees through quotes in ${command}`,
      { settings: denyRm },
      bash(command),
      "deny",
    ],
  ),
  ["deny beats bypass", { settings: { run_everything: true, ...denyRm } }, bash("rm -rf x"), "deny"],
  [
    "item 8: a path rule needs a path",
    { settings: { allow: [{ tool: "*", path: "src/**" }] } },
    bash("ls"),
    "ask",
  ],
  [
    "an ask rule asks for reading",
    { settings: { ask: [{ tool: "Read", path: "secrets/*" }] } },
    file("Read", "secrets/a"),
    "ask",
  ],
  ["acceptEdits", { settings: { default_mode: "acceptEdits" } }, file("Write", "a"), "allow"],
  ["dontAsk", { settings: { default_mode: "dontAsk" } }, file("Write", "a"), "deny"],
  ["dontAsk outside", { settings: { default_mode: "dontAsk" } }, hostname, "deny"],
  ["an unknown mode is the default", { settings: { default_mode: "yolo" } }, file("Write", "a"), "ask"],
  ["a grant covers its key", { granted: ["Bash(git status)"] }, bash("git status --short"), "allow"],
  ["item 7: a grant is narrow", { granted: ["Bash(git status)"] }, bash("git push"), "ask"],
  ["outside the workspace even reading asks", {}, hostname, "ask"],
  ["the plain grant does not reach outside", { granted: ["Read"] }, hostname, "ask"],
  ["an outside grant is for its folder", { granted: ["Read(outside:/etc)"] }, hostname, "allow"],
  [
    "a tool rule may be a wildcard",
    { settings: { deny: [{ tool: "mcp__gh__*" }] } },
    { tool: "mcp__gh__x", input: {} },
    "deny",
  ],
  ["code cells are allowed in plan mode", { plan: true }, { tool: "Code", input: {} }, "allow"],
];

describe("PermissionPolicy", () => {
  it.each(cases)("%s", (...[, { settings = {}, plan = false, granted = [] }, call, expected]) => {
    const policy = new PermissionPolicy(parseSessionSettings({ permissions: settings }).permissions, "/work");
    policy.isPlanMode = plan;
    for (const key of granted) policy.grant(key);
    const subject: PermissionSubject = {
      tool: call.tool,
      input: call.input,
      isReadOnly: readOnly.has(call.tool),
      outsideFolder: call.outside,
      opinion: call.tool === "WebSearch" ? "ask" : undefined,
    };
    expect(policy.decide(subject).behavior).toBe(expected);
  });

  it("fits paths both absolute and relative to the folder of the session", () => {
    const rules = {
      deny: [
        { tool: "Read", path: "**/.env" },
        { tool: "Read", path: "keys/*" },
      ],
    };
    const policy = new PermissionPolicy(parseSessionSettings({ permissions: rules }).permissions, "/work");
    const decide = (targetPath: string): string =>
      policy.decide({ tool: "Read", isReadOnly: true, input: { file_path: "link" }, targetPath }).behavior;
    expect([decide("/work/.env"), decide("/work/keys/a"), decide("/work/a")]).toEqual([
      "deny",
      "deny",
      "allow",
    ]);
  });
});

it.each([
  ["git status -s", "Bash(git status)"],
  ["ls -la", "Bash(ls)"],
  ["npm test", "Bash(npm test)"],
  ["/usr/bin/git push", "Bash(/usr/bin/git push)"],
  ["CI=1 npm test", "Bash(CI=1 npm test)"],
  ["git status; rm -rf x", exactKey],
  ["echo hi | cat", exactKey],
  ["node -e process.exit", exactKey],
  ["bash deploy.sh", exactKey],
  ["git log HEAD~1 src/*.ts", "Bash(git log)"],
  ["./deploy.sh now", "Bash(./deploy.sh)"],
  ...[
    "git status a ${x:=$'\\x24(touch${IFS}pwn)'}${x@P}",
    "git status ${x}",
    "git status -s 'a'",
    "git status a\\ b",
    "git status *",
    "git st?tus",
    "l? x",
    "git\u00a0status",
    "git\vstatus",
    "A+=x rm -rf y",
    "a[0]=x rm -rf y",
    "~/bin/x",
    "! rm -rf x",
    "if true",
    "coproc ls",
    ". x",
    "source x",
    "builtin eval x",
    "find . -delete",
    "setsid rm x",
    "stdbuf -o0 rm x",
    "doas rm x",
    "su x",
    "ksh x",
    "/bin/rbash x",
    "BASH x",
    "busybox rm x",
    "watch rm x",
    "parallel rm",
    "ssh host rm",
    "python3.12 a.py",
    "docker run x",
    "uv run x",
    "npm exec x",
  ].map((command): [string, RegExp] => [command, exactKey]),
  ['"rm" x', exactKey],
])("grants for %s no more than %s", (command, key) => {
  expect(permissionKey("Bash", { command })).toMatch(key);
  if (typeof key === "string") expect(permissionKey("Bash", { command })).toBe(key);
});

it("names other keys after the tool, its action or the folder outside", () => {
  expect(permissionKey("Write", { file_path: "a" })).toBe("Write");
  expect(permissionKey("Browser", { action: "goto" })).toBe("Browser:goto");
  expect(permissionKey("Read", { file_path: "/etc/hostname" }, "/etc")).toBe("Read(outside:/etc)");
});

it.each([
  ["git *", "git status", true],
  ["git *", "git", false],
  ["a?c", "abc", true],
  ["[ab]*", "b/x", true],
  ["[!ab]*", "bx", false],
  ["[z-a]", "[z-a]", true],
  ["a.c", "abc", false],
  ["**/.env", "/w/.env", true],
])("matchesWildcard(%s, %s) is %s", (pattern, text, expected) => {
  expect(matchesWildcard(pattern, text)).toBe(expected);
});
