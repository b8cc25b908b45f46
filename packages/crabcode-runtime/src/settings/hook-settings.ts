import { z } from "zod";

/** When a hook runs. */
export type HookEvent =
  | "user_prompt_submit"
  | "pre_tool_call"
  | "post_tool_call"
  | "pre_compact"
  | "post_compact";

/** One command that runs at an event. */
export interface HookEntry {
  /** For the shell. */
  readonly command: string;
  /** Names of tools, `*` stands for any characters. Undefined: every event; otherwise only events of these tools. */
  readonly tools: readonly string[] | undefined;
  readonly timeoutMs: number;
  /** True: a failure blocks nothing. */
  readonly continuesOnError: boolean;
}

/** The `hooks` object of the settings, ready for use. */
export interface HookSettings {
  /** In the order of the settings. */
  readonly entries: ReadonlyMap<HookEvent, readonly HookEntry[]>;
  /** What of it could not be used, for the log. */
  readonly problems: readonly string[];
}

/** Spellings beside those that differ from the name of an event in capitals and dashes only. */
const ALIASES: Readonly<Record<string, HookEvent>> = {
  user_prompt_submit: "user_prompt_submit",
  user_prompt_submit_hook: "user_prompt_submit",
  pre_tool_call: "pre_tool_call",
  pre_tool_use: "pre_tool_call",
  post_tool_call: "post_tool_call",
  post_tool_use: "post_tool_call",
  pre_compact: "pre_compact",
  post_compact: "post_compact",
};

const DEFAULT_TIMEOUT_SECONDS = 60;
const MAX_TIMEOUT_SECONDS = 3600;

const names = z.union([z.string().transform((name) => [name]), z.array(z.string())]);
const matcher = z
  .union([
    names,
    z
      .object({ tool_name: names.optional(), tool: names.optional(), name: names.optional() })
      .transform(({ tool_name, tool, name }) => tool_name ?? tool ?? name ?? []),
  ])
  .transform(toToolNames);
const timeout = z.number().positive().max(MAX_TIMEOUT_SECONDS).catch(DEFAULT_TIMEOUT_SECONDS);
const options = {
  timeout,
  continue_on_error: z.boolean().optional().catch(undefined),
  continueOnError: z.boolean().optional().catch(undefined),
};

const command = z
  .object({
    command: z.string().optional(),
    cmd: z.string().optional(),
    run: z.string().optional(),
    matcher: matcher.optional(),
    ...options,
  })
  .transform((entry, context) => {
    const text = entry.command ?? entry.cmd ?? entry.run ?? "";
    if (text.trim() !== "") return [toEntry(entry, text)];
    context.addIssue("no command");
    return z.NEVER;
  });

const group = z
  .object({
    matcher: matcher.optional(),
    hooks: z.array(z.object({ type: z.literal("command"), command: z.string().min(1), ...options })),
  })
  .transform(({ matcher: tools, hooks }) =>
    hooks.map((entry) => toEntry({ ...entry, matcher: tools }, entry.command)),
  );

const entry = z.union([group, command]);

/** Reads the `hooks` object. What cannot be used is left out and named in `problems`. */
export const hookSettings: z.ZodType<HookSettings> = z
  .preprocess((value) => value ?? {}, z.unknown())
  .transform(readHooks);

function readHooks(value: unknown): HookSettings {
  const entries = new Map<HookEvent, HookEntry[]>();
  const problems: string[] = [];
  const events = z.record(z.string(), z.unknown()).safeParse(value).data;
  if (events === undefined) return { entries, problems: ["hooks is no object"] };
  for (const [key, items] of Object.entries(events)) {
    const event = eventOf(key);
    if (event === undefined) problems.push(`hooks.${key} is no event`);
    else if (!Array.isArray(items)) problems.push(`hooks.${key} is no list`);
    else {
      const known = entries.get(event) ?? [];
      for (const [index, item] of items.entries()) {
        const parsed = entry.safeParse(item).data;
        if (parsed === undefined) problems.push(`hooks.${key}[${index}] has no command that can be run`);
        else known.push(...parsed);
      }
      entries.set(event, known);
    }
  }
  return { entries, problems };
}

/** `preToolUse`, `PreToolUse` and `pre-tool-use` are one event. */
function eventOf(key: string): HookEvent | undefined {
  const name = key
    .replace(/[A-Z]/g, (letter, at: number) => (at === 0 ? "" : "_") + letter.toLowerCase())
    .replaceAll("-", "_");
  return Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined;
}

/** An empty matcher is none; `A|B` names two tools. */
function toToolNames(written: readonly string[]): string[] | undefined {
  const found = written.flatMap((name) => name.split("|")).filter((name) => name !== "");
  return found.length === 0 ? undefined : found;
}

function toEntry(
  written: {
    readonly matcher?: readonly string[] | undefined;
    readonly timeout: number;
    readonly continue_on_error?: boolean | undefined;
    readonly continueOnError?: boolean | undefined;
  },
  text: string,
): HookEntry {
  return {
    command: text,
    tools: written.matcher,
    timeoutMs: written.timeout * 1000,
    continuesOnError: written.continue_on_error ?? written.continueOnError ?? false,
  };
}
