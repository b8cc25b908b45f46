import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import { defineTool, type Tool } from "../../../tool.ts";
import { runReadFile } from "../../grok-build/read-file/read-file.ts";
import { readFileInput } from "../../grok-build/read-file/read-file-input.ts";
import { readFileOutput } from "../../grok-build/read-file/read-file-output.ts";
import type { TextStyle } from "../../grok-build/read-file/read-text-content.ts";
import { groupEnd, groupStart, lineAnchors } from "../anchors/line-anchors.ts";
import { type SchemeParams, schemeParams } from "../anchors/scheme-params.ts";

/** GrokBuildHashline:hashline_read: a file with an anchor on each line, by which it can be edited. */
export const hashlineRead: Tool = defineTool<typeof readFileInput, SchemeParams>({
  id: "GrokBuildHashline:hashline_read",
  kind: "read",
  capabilities: { readOnly: true },
  description: `Reads a file with an anchor on each line.

- A line comes as \`ANCHOR→text\`. The anchor is the number of the line and a hash of what it holds; it is not part of the file. Give anchors to \`\${{ tools.by_kind.edit }}\` exactly as they are shown.
- At most {max_lines_read} lines are returned; use \`\${{ params.read.offset }}\` and \`\${{ params.read.limit }}\` for the rest of a long file.
- Pictures (PNG, JPEG, WebP, GIF) are shown; the text of PPTX slides is extracted.`,
  input: readFileInput,
  params: schemeParams,
  output: readFileOutput,
  resources: [fileReadTracker],
  truncation: { builtInMaxOutput: Number.POSITIVE_INFINITY },
  run: (input, context) => runReadFile(input, context, anchoredText(context.params)),
});

function anchoredText(params: SchemeParams): TextStyle {
  return {
    hasConciseTwin: false,
    async show({ lines, firstLine }, linesOf) {
      if (lines.length === 0) return "";
      // The hash of a group needs all its lines, shown or not.
      const start = groupStart(firstLine, params);
      const end = groupEnd(firstLine + lines.length - 1, params);
      const anchors = lineAnchors(await linesOf(start, end - start), start, params);
      return lines.map((line, index) => `${anchors[firstLine - start + index] ?? ""}→${line}`).join("\n");
    },
  };
}
