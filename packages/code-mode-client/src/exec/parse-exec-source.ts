import { TriviumError } from "@trivium/core";

/** What a model wrote into the `exec` tool. */
export interface ExecSource {
  /** The program, without the pragma line. */
  readonly code: string;
  readonly yieldTimeMs?: number;
  readonly maxOutputTokens?: number;
}

const PRAGMA = "// @exec:";
const FIELDS = new Map([
  ["yield_time_ms", "yieldTimeMs"],
  ["max_output_tokens", "maxOutputTokens"],
]);

/**
 * Splits the raw text of an `exec` call into the program and the options of its first line,
 * `// @exec: {"yield_time_ms": 1000, "max_output_tokens": 2000}`. A text without such a line is all program.
 *
 * @throws {@link TriviumError} `invalidInput`; its message is meant for the model.
 */
export function parseExecSource(source: string): ExecSource {
  if (source.trim() === "") {
    throw refusal(
      "exec got no source; give it JavaScript, optionally after a line that starts with // @exec:",
    );
  }
  const end = source.indexOf("\n");
  const first = (end < 0 ? source : source.slice(0, end)).trimStart();
  if (!first.startsWith(PRAGMA)) return { code: source };
  const code = end < 0 ? "" : source.slice(end + 1);
  if (code.trim() === "") throw refusal(`there is no source after the ${PRAGMA} line`);
  return { code, ...parseOptions(first.slice(PRAGMA.length).trim()) };
}

function parseOptions(text: string): Omit<ExecSource, "code"> {
  const known = [...FIELDS.keys()].join(" and ");
  if (text === "") throw refusal(`the ${PRAGMA} line has no JSON object; it can have ${known}`);
  const options: Record<string, number> = {};
  for (const [key, value] of Object.entries(parseObject(text))) {
    const name = FIELDS.get(key);
    if (name === undefined)
      throw refusal(`the ${PRAGMA} line has the field ${key}; it can only have ${known}`);
    if (value === null) continue;
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
      throw refusal(
        `${key} of the ${PRAGMA} line is ${JSON.stringify(value)}; it must be a whole number from 0 to 2^53 - 1`,
      );
    }
    options[name] = value;
  }
  return options;
}

function parseObject(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw refusal(`what follows ${PRAGMA} is not valid JSON`, cause);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw refusal(`what follows ${PRAGMA} must be a JSON object`);
}

function refusal(message: string, cause?: unknown): TriviumError {
  return new TriviumError("invalidInput", message, cause === undefined ? undefined : { cause });
}
