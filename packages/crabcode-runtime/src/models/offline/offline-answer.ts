import type { MessageBlock } from "../../conversation/message.ts";
import type { CommandWord, OfflineCommand } from "./offline-command.ts";

/** First line of everything the rule program says. Programs look for it. */
export const OFFLINE_MARKER = "[offline mode - no language model configured]";

type ToolResult = Extract<MessageBlock, { type: "tool_result" }>;
type Call = Extract<OfflineCommand, { kind: "call" }>;

const SHOWN_LINES = 20;

const configuration = [
  "To use a language model, set in settings.json (or models in trivium.json):",
  '  {"default_model": "smart", "models": {"smart": {"provider": "anthropic", "model": "<id>", "api_key_env": "ANTHROPIC_API_KEY"}}}',
  "Providers: anthropic (ANTHROPIC_API_KEY), openai (OPENAI_API_KEY), gemini (GEMINI_API_KEY), ollama (no key),",
  'and any OpenAI-compatible server: {"provider": "router", "base_url": "http://127.0.0.1:8000/v1", "model": "<id>"}',
];

/** What the two explaining answers hold besides their own words. */
export interface Explanation {
  /** Lines of the help. */
  readonly commands: readonly string[];
  /** Why a configured model is not used. */
  readonly reason: string | undefined;
}

/** Answer to `help`. */
export function helpAnswer({ commands, reason }: Explanation): string {
  return marked([
    "This is a fixed rule program, not a language model. It understands one command per message:",
    ...commands,
    "",
    ...because(reason),
    ...configuration,
  ]);
}

/** Answer to anything that is no command. */
export function unknownAnswer({ commands, reason }: Explanation): string {
  return marked([
    "No language model is configured, so your message was not understood.",
    ...because(reason),
    ...configuration,
    "",
    "Without a model these commands work, one per message:",
    ...commands,
  ]);
}

/** Answer to a command whose rest does not fit. */
export function malformedAnswer(usage: string): string {
  return marked([`The command has another form: ${usage}`]);
}

/** Answer when the tool of a command is not offered. */
export function notOfferedAnswer({ word, tool }: Call): string {
  return marked([
    word === "plan"
      ? "A plan can be handed in only in plan mode; switch to it first."
      : `The command ${word} needs the tool ${tool}, which is not offered in this session or in this mode.`,
  ]);
}

/** What is said after the tool ran. */
export function summaryAnswer(call: Call, result: ToolResult): string {
  if (result.is_error && call.word !== "run") return marked([`${call.tool} failed: ${result.content}`]);
  return marked(summaries[call.word](result.content, call, result.is_error));
}

const summaries: Record<CommandWord, (content: string, call: Call, isError: boolean) => readonly string[]> = {
  read: (content, { input }) => {
    const lines = content.split("\n");
    return [`Start of ${String(input["file_path"])}:`, ...lines.slice(0, SHOWN_LINES), ...more(lines.length)];
  },
  list: (content, { input }) => {
    const count = /^Found (\d+) files:/.exec(content)?.[1] ?? "0";
    return [`${count} files match ${String(input["pattern"])}.`];
  },
  search: (content, { input }) => {
    const count = content.split("\n").filter((line) => /:\d+:/.test(line)).length;
    return [`${count} lines match ${String(input["pattern"])}.`];
  },
  run: (content, _call, isError) => {
    const code = /(?:^|\n)Exit code: (\d+)/.exec(content)?.[1];
    const ending = code ?? (isError ? undefined : "0");
    const lines = content.split("\n");
    if (ending === undefined) return [`The command did not finish: ${content}`];
    return [
      `The command ended with exit code ${ending}.`,
      ...lines.slice(0, SHOWN_LINES),
      ...more(lines.length),
    ];
  },
  write: (content) => [content],
  replace: (content) => [content],
  ask: (content) => [content],
  delegate: (content) => [content],
  plan: () => ["The plan was handed in."],
};

function more(lineCount: number): string[] {
  return lineCount > SHOWN_LINES ? [`(${lineCount - SHOWN_LINES} more lines)`] : [];
}

function because(reason: string | undefined): string[] {
  return reason === undefined ? [] : [`The configured model is not used: ${reason}.`];
}

function marked(lines: readonly string[]): string {
  return [OFFLINE_MARKER, ...lines].join("\n");
}
