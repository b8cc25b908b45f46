import type { ToolInput } from "../../conversation/message.ts";

/** What one message asks the rule program to do. */
export type OfflineCommand =
  | { readonly kind: "help" }
  | { readonly kind: "unknown" }
  /** A known word whose rest does not fit; `usage` shows the right form. */
  | { readonly kind: "malformed"; readonly usage: string }
  | { readonly kind: "call"; readonly word: CommandWord; readonly tool: string; readonly input: ToolInput };

/** First words that lead to a tool call. */
export type CommandWord =
  | "read"
  | "list"
  | "search"
  | "run"
  | "write"
  | "replace"
  | "ask"
  | "delegate"
  | "plan";

interface CommandForm {
  readonly usage: string;
  readonly about: string;
  readonly tool: string;
  /** The tool's input; undefined when the rest of the message does not fit. */
  readonly parse: (rest: string) => ToolInput | undefined;
}

/** Commands in the order in which the help lists them. */
const commandForms: Readonly<Record<CommandWord, CommandForm>> = {
  read: {
    usage: "read <path>",
    about: "shows the first 20 lines of a file",
    tool: "Read",
    parse: (rest) => (rest === "" ? undefined : { file_path: rest }),
  },
  list: {
    usage: "list [glob]",
    about: "counts files by name, * unless a pattern is given",
    tool: "Glob",
    parse: (rest) => ({ pattern: rest === "" ? "*" : rest }),
  },
  search: {
    usage: "search <regex> [in <glob>]",
    about: "counts lines that match",
    tool: "Grep",
    parse: parseSearch,
  },
  run: {
    usage: "run <command>",
    about: "runs a shell command, after asking for permission",
    tool: "Bash",
    parse: (rest) => (rest === "" ? undefined : { command: rest }),
  },
  write: {
    usage: "write <path>: <content>",
    about: "writes a file, after asking for permission",
    tool: "Write",
    parse: parseWrite,
  },
  replace: {
    usage: "replace <path>: <old> => <new>",
    about: "replaces one text in a file, after asking for permission",
    tool: "Edit",
    parse: parseReplace,
  },
  ask: {
    usage: "ask <question>: <a> | <b>",
    about: "asks you to choose",
    tool: "AskUser",
    parse: parseAsk,
  },
  delegate: {
    usage: "delegate <command>",
    about: "gives a command to an agent",
    tool: "AgentSpawn",
    parse: (rest) => (rest === "" ? undefined : { prompt: rest }),
  },
  plan: {
    usage: "plan <title>: <step>; <step>",
    about: "hands in a plan, in plan mode",
    tool: "SwitchMode",
    parse: parsePlan,
  },
};

const forms: ReadonlyMap<string, CommandForm & { readonly word: CommandWord }> = new Map(
  // Object.entries widens the keys; the object above has no others.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  Object.entries(commandForms).map(([word, form]) => [word, { ...form, word: word as CommandWord }]),
);

/** One line per command that can be carried out with these tools, for the help. */
export function commandLines(isOffered: (tool: string) => boolean): readonly string[] {
  const possible = [...forms.values()].filter(({ tool }) => isOffered(tool));
  return ["  help - shows this", ...possible.map(({ usage, about }) => `  ${usage} - ${about}`)];
}

/** Reads one message: its first word, in any case, is the command. */
export function parseCommand(text: string): OfflineCommand {
  const [, first = "", rest = ""] = /^\s*(\S+)\s*([\s\S]*?)\s*$/.exec(text) ?? [];
  const word = first.toLowerCase();
  if (word === "help") return { kind: "help" };
  const form = forms.get(word);
  if (form === undefined) return { kind: "unknown" };
  const input = form.parse(rest);
  if (input === undefined) return { kind: "malformed", usage: form.usage };
  return { kind: "call", word: form.word, tool: form.tool, input };
}

function parseSearch(rest: string): ToolInput | undefined {
  if (rest === "") return undefined;
  const match = /^([\s\S]+?)\s+in\s+(\S+)$/.exec(rest);
  return match === null ? { pattern: rest } : { pattern: match[1], glob: match[2] };
}

function parseWrite(rest: string): ToolInput | undefined {
  const match = /^([^:\n]+):[ \t]?([\s\S]*)$/.exec(rest);
  return match === null ? undefined : { file_path: match[1]?.trim(), content: match[2] };
}

function parseReplace(rest: string): ToolInput | undefined {
  const match = /^([^:\n]+):\s*([\s\S]+?)\s*=>\s*([\s\S]*)$/.exec(rest);
  if (match === null) return undefined;
  return { file_path: match[1]?.trim(), old_string: match[2], new_string: match[3] };
}

function parseAsk(rest: string): ToolInput | undefined {
  // A question may hold colons itself, an option may not.
  const match = /^([\s\S]+):\s*([^:]+)$/.exec(rest);
  if (match === null) return undefined;
  const options = (match[2] ?? "").split("|").map((option) => option.trim());
  const named = options.filter((option) => option !== "");
  return named.length === 0 ? undefined : { question: match[1]?.trim(), options: named };
}

function parsePlan(rest: string): ToolInput | undefined {
  const match = /^([^:\n]+):\s*([\s\S]+)$/.exec(rest);
  const title = match?.[1]?.trim();
  const steps = (match?.[2] ?? "").split(";").map((step) => step.trim());
  const named = steps.filter((step) => step !== "");
  if (title === undefined || named.length === 0) return undefined;
  return {
    target_mode: "agent",
    plan: {
      title,
      summary: title,
      steps: named.map((step, index) => ({
        id: `step-${index + 1}`,
        title: step,
        description: step,
        depends_on: index === 0 ? [] : [`step-${index}`],
      })),
    },
  };
}
