import { z } from "zod";
import type { ParamsDefinition } from "../tool-params.ts";

/** Configuration shared by the shell tools. Keys as in the contract's state. */
export interface ShellParams {
  readonly timeout_secs: number | null;
  readonly max_timeout_secs: number | null;
  readonly output_byte_limit: number | null;
  readonly cmd_prefix: string | null;
  readonly enabled_background: boolean;
  readonly auto_background_on_timeout: boolean;
  readonly foreground_block_budget_ms: number | null;
  readonly max_block_until_ms: number | null;
  readonly allow_background_operator: boolean;
  readonly surface_bg_completion_reminders: boolean;
  readonly persistent_shell: boolean;
  readonly shell: string | null;
  readonly use_pty: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly shell_environment_policy: ShellEnvironmentPolicy | null;
  readonly memory_limit_bytes: number | null;
  readonly sandbox: "bwrap" | null;
}

/** Changes to the server's environment policy for one toolset. Absent keys keep the server's value. */
export interface ShellEnvironmentPolicy {
  readonly inherit?: "all" | "core" | "none" | undefined;
  readonly ignore_default_excludes?: boolean | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly set?: Readonly<Record<string, string>> | undefined;
  readonly include_only?: readonly string[] | undefined;
}

const count = z.int().min(0).nullable().default(null);

export const shellParams: ParamsDefinition<ShellParams> = {
  stateKey: "grok_build.Bash",
  strict: false,
  schema: z.object({
    timeout_secs: z.number().nullable().default(null).describe("Default time-out in seconds. Absent: 120."),
    max_timeout_secs: z
      .number()
      .nullable()
      .default(null)
      .describe("Longest time-out in seconds. Absent: 300."),
    output_byte_limit: count.describe("Characters of output in an answer. Absent: 20000."),
    cmd_prefix: z
      .string()
      .nullable()
      .default(null)
      .describe("Command that has to succeed before each command."),
    enabled_background: z.boolean().default(true).describe("Allow commands in the background."),
    auto_background_on_timeout: z
      .boolean()
      .default(false)
      .describe(
        "Move a command to the background instead of ending it when the call has waited long enough.",
      ),
    foreground_block_budget_ms: count.describe(
      "How long a call waits then. Absent: 15000. 0: until its time-out.",
    ),
    max_block_until_ms: count.describe("Accepted and ignored."),
    allow_background_operator: z.boolean().default(true).describe("Allow & in foreground commands."),
    surface_bg_completion_reminders: z
      .boolean()
      .default(true)
      .describe("Tell when a background task has ended."),
    persistent_shell: z.boolean().default(false).describe("Keep the shell's state between commands."),
    shell: z
      .string()
      .nullable()
      .default(null)
      .describe("Path of the shell. Absent: the user's, if bash or zsh."),
    use_pty: z.boolean().default(false).describe("Run commands on a pseudo-terminal."),
    env: z.record(z.string(), z.string()).default({}).describe("Further variables of every command."),
    shell_environment_policy: z
      .object({
        inherit: z.enum(["all", "core", "none"]).optional(),
        ignore_default_excludes: z.boolean().optional(),
        exclude: z.array(z.string()).optional(),
        set: z.record(z.string(), z.string()).optional(),
        include_only: z.array(z.string()).optional(),
      })
      .nullable()
      .default(null)
      .describe("Changes to the server's rules for variables."),
    memory_limit_bytes: count.describe("Memory of a command, where the system can limit it."),
    sandbox: z.enum(["bwrap"]).nullable().default(null).describe("Run commands inside bubblewrap."),
  }),
  check({ auto_background_on_timeout, enabled_background }) {
    if (!auto_background_on_timeout || enabled_background) return [];
    return [
      {
        key: "auto_background_on_timeout",
        expected: "false (when enabled_background is false)",
        message: "auto_background_on_timeout needs enabled_background",
      },
    ];
  },
};
