import type { ToolContext } from "../tool.ts";
import type { CommandNotices } from "./command-notices.ts";
import type { EffectiveTimeout } from "./effective-timeout.ts";
import type { ShellInput } from "./shell-input.ts";
import type { ShellParams } from "./shell-params.ts";

/** One call of a shell tool on its way. */
export interface ShellRun {
  readonly input: ShellInput;
  readonly context: ToolContext<ShellParams>;
  readonly timeout: EffectiveTimeout;
  /** Log with the whole output. */
  readonly outputFile: string;
  /** As it is executed, with a configured prefix. */
  readonly command: string;
  readonly notices: CommandNotices;
}

/** The reason as it is stored: blank is none. */
export function descriptionOf({ description }: ShellInput): string | null {
  return description === undefined || description.trim() === "" ? null : description;
}
