import type { LogicalFailure, ToolResult } from "../../../tool.ts";

/** A search that did not take place or failed. */
export interface GrepFailure {
  readonly text: string;
  readonly exitCode: number;
  readonly stderr?: string | undefined;
  /** False: nothing could be started, so there is no output. Default true. */
  readonly hasOutput?: boolean | undefined;
  readonly failure: LogicalFailure;
}

/** The answer for a failed search. */
export function grepFailureResult({
  text,
  exitCode,
  stderr = "",
  hasOutput = true,
  failure,
}: GrepFailure): ToolResult {
  return {
    output: {
      type: "GrepSearch",
      stdout: Buffer.from(hasOutput ? text : ""),
      stderr: Buffer.from(stderr),
      exit_code: exitCode,
      match_count: 0,
      file_matches: [],
    },
    promptText: text,
    failure,
  };
}
