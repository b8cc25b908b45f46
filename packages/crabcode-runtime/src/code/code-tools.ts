import { TriviumError } from "@trivium/core";
import { z } from "zod";
import type { CellSource, CodeCellsPort } from "../ports/code-cells-port.ts";
import { defineTool, failed, flag, type Tool, wholeNumber } from "../tools/tool.ts";

const DEFAULT_YIELD_MS = 10_000;
const MAX_YIELD_MS = 60_000;
const DEFAULT_OUTPUT_TOKENS = 10_000;
const MAX_OUTPUT_TOKENS = 25_000;
const MAX_SOURCE_BYTES = 1024 * 1024;

const CODE = `Runs a JavaScript program that can call your tools, and gives what it outputs. Use it for work of many calls: loops,
filters, one call's result in the next.
The program is an ES module with top-level await in an isolate of its own: no Node, files, network, console or imports.
await tools.NAME(input) calls your tool of that name, for example tools.Read({ file_path: "a.txt" }), and resolves to
{ text, data }: text is what you would read, data the result as values (Read: path, text, first_line, total_lines; Bash:
stdout, stderr, exit_code, timed_out, truncated; Grep: matches of path, line, text; Glob: paths; Edit and Write: path,
is_new, added, removed; null for other tools). A call that fails or is refused rejects with a string. Names of other
characters than letters, digits, _ and $ have _ in their place; ALL_TOOLS lists { name, description }.
Only these put something out: text(value), image(dataUrl), audio(dataUrl), content(mcpBlocks). store(key, value) and load(key)
keep JSON values for your later programs. notify(value) is shown with the next output, yield_control() hands over what there
is, exit() ends the program, setTimeout(callback, ms) and clearTimeout(id) are there. as_settled(promises) yields results
in the order in which they come. What is not awaited at the end is dropped.
A program that takes longer than yield_time_ms goes on; its cell ID is given, for CodeWait.`;

const CODE_WAIT =
  "Waits for more output of a program that Code left running, or ends it. A finished program's last output can be had once.";

const yieldTime = wholeNumber(
  `Milliseconds after which the output so far is given, 0 to ${MAX_YIELD_MS}; ${DEFAULT_YIELD_MS} if absent.`,
);
const outputTokens = wholeNumber(
  `Longest output, in tokens of about four bytes, 0 to ${MAX_OUTPUT_TOKENS}; ${DEFAULT_OUTPUT_TOKENS} if absent.`,
);

/** The tools that run programs. They change nothing by themselves: every call of a program is checked like the loop's own. */
export function codeTools(port: Pick<CodeCellsPort, "readSource">): Tool[] {
  const code = defineTool({
    name: "Code",
    description: CODE,
    input: z.object({
      source: z.string().describe("The program itself: JavaScript without fences."),
      yield_time_ms: yieldTime,
      max_output_tokens: outputTokens,
    }),
    isReadOnly: true,
    isConcurrencySafe: false,
    check({ source, ...limits }) {
      if (Buffer.byteLength(source) > MAX_SOURCE_BYTES) return "source: must not be larger than 1 MiB";
      const read = readSource(port, source);
      return typeof read === "string" ? `source: ${read}` : rangeProblem(limits);
    },
    async run({ source, yield_time_ms, max_output_tokens }, { cells }) {
      const read = readSource(port, source);
      if (cells === undefined || typeof read === "string")
        return failed("Error: programs cannot be run here");
      return cells.start({
        code: read.code,
        yieldTimeMs: yield_time_ms ?? Math.min(read.yieldTimeMs ?? DEFAULT_YIELD_MS, MAX_YIELD_MS),
        maxOutputTokens:
          max_output_tokens ?? Math.min(read.maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS),
      });
    },
  });
  return [code, codeWait];
}

const codeWait: Tool = defineTool({
  name: "CodeWait",
  description: CODE_WAIT,
  input: z.object({
    cell_id: z.string().describe("As Code gave it."),
    yield_time_ms: yieldTime,
    max_output_tokens: outputTokens,
    terminate: flag("End the program instead of waiting for it."),
  }),
  isReadOnly: true,
  isConcurrencySafe: false,
  check: (input) => rangeProblem(input),
  async run({ cell_id, yield_time_ms, max_output_tokens, terminate }, { cells }) {
    if (cells === undefined) return failed("Error: programs cannot be run here");
    return cells.look(cell_id, {
      yieldTimeMs: yield_time_ms ?? DEFAULT_YIELD_MS,
      maxOutputTokens: max_output_tokens ?? DEFAULT_OUTPUT_TOKENS,
      terminate: terminate === true,
    });
  },
});

function rangeProblem(limits: {
  readonly yield_time_ms?: number | undefined;
  readonly max_output_tokens?: number | undefined;
}): string | undefined {
  const { yield_time_ms = 0, max_output_tokens = 0 } = limits;
  if (yield_time_ms < 0 || yield_time_ms > MAX_YIELD_MS) return `yield_time_ms: must be 0 to ${MAX_YIELD_MS}`;
  if (max_output_tokens < 0 || max_output_tokens > MAX_OUTPUT_TOKENS) {
    return `max_output_tokens: must be 0 to ${MAX_OUTPUT_TOKENS}`;
  }
  return undefined;
}

/** The program, or what is wrong with it. */
function readSource(port: Pick<CodeCellsPort, "readSource">, source: string): CellSource | string {
  try {
    return port.readSource(source);
  } catch (thrown) {
    if (TriviumError.isInstance(thrown)) return thrown.message;
    throw thrown;
  }
}
