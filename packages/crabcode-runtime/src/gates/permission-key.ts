import { createHash } from "node:crypto";
import type { ToolInput } from "../conversation/message.ts";
import { isRunner, isRunningSubcommand } from "./command-runners.ts";
import { plainWords } from "./shell-command.ts";

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

/** A program as it is written: anything else may be a word of the shell's own. */
const PROGRAM = /^[A-Za-z0-9_./+@-]+$/;
const SUBCOMMAND = /^[A-Za-z0-9_.][A-Za-z0-9_./:@+-]*$/;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;

/**
 * What "always allow" of a call grants, as narrow as it can be said in a few words.
 *
 * @param outsideFolder folder of the target when it lies outside the workspace
 */
export function permissionKey(tool: string, input: ToolInput, outsideFolder?: string): string {
  if (outsideFolder !== undefined) return `${tool}(outside:${outsideFolder})`;
  if (tool === "Bash" && typeof input["command"] === "string") return commandPermissionKey(tool, input);
  const action = input["action"];
  if (tool === "Browser" && typeof action === "string") return `Browser:${action}`;
  return tool;
}

/** The same of a tool whose input is a command. One that is no text grants exactly itself. */
export function commandPermissionKey(tool: string, input: ToolInput): string {
  const command = input["command"];
  return `${tool}(${typeof command === "string" ? commandKey(command) : exactKey(JSON.stringify(input))})`;
}

function exactKey(text: string): string {
  return `=${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
}

function commandKey(command: string): string {
  const exact = exactKey(command);
  const words = plainWords(command);
  if (words === undefined) return exact;
  const programAt = words.findIndex((word) => !ASSIGNMENT.test(word));
  const program = words[programAt];
  if (program === undefined || !PROGRAM.test(program)) return exact;
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (name === "" || isRunner(name)) return exact;
  const asWritten = words.slice(0, programAt + 1).join(" ");
  const subcommand = words[programAt + 1];
  if (!WITH_SUBCOMMAND.has(name) || subcommand === undefined) return asWritten;
  // Behind an option it is anyone's guess which word is the subcommand.
  const isNarrow = SUBCOMMAND.test(subcommand) && !isRunningSubcommand(name, subcommand);
  return isNarrow ? `${asWritten} ${subcommand}` : exact;
}
