import { ErrorCode } from "@trivium/proto/grok-tools";
import type { ToolContext } from "../tool.ts";
import { ToolError } from "../tool-error.ts";
import { usesBackgroundOperator } from "./background-operator.ts";
import { selfMatchingPattern } from "./self-matching-kill.ts";
import type { ShellInput } from "./shell-input.ts";
import type { ShellParams } from "./shell-params.ts";

/**
 * Refuses what would not do what the caller means, before anything runs.
 *
 * @throws {@link ToolError} INVALID_INPUT, or NOT_IMPLEMENTED for a configured feature that this build lacks.
 */
export function checkCommand(input: ShellInput, context: ToolContext<ShellParams>): void {
  const { params, behaviorVersion } = context;
  const { command, is_background: isBackground } = input;
  const field = context.parameterName("command");
  const backgroundName = context.parameterName("is_background");
  const allowsOperator = params.allow_background_operator && params.enabled_background;
  const rule = behaviorVersion === "legacy-0.4.10" ? "legacy" : "current";
  if (!isBackground && !allowsOperator && usesBackgroundOperator(command, rule)) {
    throw ToolError.invalidField(
      field,
      params.enabled_background
        ? `the command sends something to the background with &; leave out the & and set ${backgroundName} to true`
        : "the command sends something to the background with &, and background commands are disabled here; run it without the &",
    );
  }
  const pattern = selfMatchingPattern(command);
  if (pattern !== undefined) {
    throw ToolError.invalidField(
      field,
      `the pattern "${pattern}" also matches the shell that runs this command, since its text is part of the command line; kill in a call of its own, by process id, or with a pattern such as "[${pattern.charAt(0)}]${pattern.slice(1)}"`,
    );
  }
  if (isBackground && !params.enabled_background) {
    throw ToolError.invalidField(
      backgroundName,
      "background commands are disabled here; run it in the foreground",
    );
  }
  if (params.use_pty) {
    throw new ToolError(
      ErrorCode.NOT_IMPLEMENTED,
      "the parameter use_pty of the shell tool needs a pseudo-terminal, which this build cannot open",
      {
        suggestion: "Finalize the toolset without use_pty.",
        details: { unavailable: "use_pty" },
      },
    );
  }
}
