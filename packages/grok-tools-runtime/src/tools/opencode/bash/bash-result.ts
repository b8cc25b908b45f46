import { type EndedRun, endedOutput, exitCodeOf, notesOn } from "../../../shell/shell-result.ts";
import { softWrap, toPlainText } from "../../../shell/shell-text.ts";
import type { ToolResult } from "../../../tool.ts";

/** The answer for a command that has ended: its output, and how it ended unless that was well. */
export function bashResult(run: EndedRun): ToolResult {
  const { cut, signal, outputFile } = run;
  const text = softWrap(toPlainText(cut.text));
  const exitCode = exitCodeOf(run);
  const lines = [
    ...(text === "" ? [] : [text.endsWith("\n") ? text.slice(0, -1) : text]),
    // Without a word a model takes a silent failure for a success.
    ...(text === "" && signal === null ? [`(exit code ${exitCode})`] : []),
    ...(signal === null ? [] : [`[ended: ${signal}]`]),
    ...(signal === null && exitCode !== 0 ? [`exit code: ${exitCode}`] : []),
    ...(cut.isTruncated ? [`[the middle of the output is left out; all of it is in ${outputFile}]`] : []),
    ...notesOn(run),
  ];
  const promptText = lines.join("\n");
  return { output: endedOutput(run, promptText), promptText, truncated: cut.isTruncated };
}
