import { createHash } from "node:crypto";
import type { ToolInput } from "../conversation/message.ts";
import { isCompound } from "./shell-command.ts";

/** Programs whose first argument says what they do. */
const WITH_SUBCOMMAND: ReadonlySet<string> = new Set([
  "git",
  "npm",
  "pnpm",
  "yarn",
  "npx",
  "node",
  "cargo",
  "go",
  "docker",
  "kubectl",
  "pip",
  "uv",
  "make",
  "gh",
]);

/** Programs that run what their arguments say: a grant for the program would be one for every command. */
const RUNNERS: ReadonlySet<string> = new Set([
  "bash",
  "sh",
  "zsh",
  "dash",
  "env",
  "sudo",
  "xargs",
  "eval",
  "exec",
  "command",
  "nohup",
  "time",
  "timeout",
  "nice",
]);

/**
 * What "always allow" of a call grants, as narrow as it can be said in a few words.
 *
 * @param outsideFolder folder of the target when it lies outside the workspace
 */
export function permissionKey(tool: string, input: ToolInput, outsideFolder?: string): string {
  if (outsideFolder !== undefined) return `${tool}(outside:${outsideFolder})`;
  const command = input["command"];
  if (tool === "Bash" && typeof command === "string") return `Bash(${commandKey(command)})`;
  const action = input["action"];
  if (tool === "Browser" && typeof action === "string") return `Browser:${action}`;
  return tool;
}

function commandKey(command: string): string {
  const exact = `=${createHash("sha256").update(command).digest("hex").slice(0, 16)}`;
  if (isCompound(command) || /["'\\$]/.test(command.split(/\s+/, 3).join(" "))) return exact;
  const words = command.trim().split(/\s+/);
  const programAt = words.findIndex((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word));
  const program = words[programAt];
  if (program === undefined) return exact;
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (RUNNERS.has(name)) return exact;
  const asWritten = words.slice(0, programAt + 1).join(" ");
  const subcommand = words[programAt + 1];
  if (!WITH_SUBCOMMAND.has(name) || subcommand === undefined) return asWritten;
  // Behind an option it is anyone's guess which word is the subcommand.
  return subcommand.startsWith("-") ? exact : `${asWritten} ${subcommand}`;
}
