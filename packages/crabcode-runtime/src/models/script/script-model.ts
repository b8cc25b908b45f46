import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { abortReason, type Clock, sleep } from "@trivium/core";
import type {
  ModelChunk,
  ModelFailure,
  ModelPort,
  ModelRequest,
  ModelState,
} from "../../ports/model-port.ts";
import { failureOf } from "../failure-of.ts";
import { parseToolInput } from "../parse-tool-input.ts";
import { type ScriptCall, type ScriptEntry, scriptSchema } from "./script-entry.ts";

/** What a script model needs. */
export interface ScriptModelOptions {
  /** Absolute. The file is read anew for each request. */
  readonly path: string;
  readonly model: string;
  /** Appends one line per request to `<path>.log.jsonl`. */
  readonly isLogged: boolean;
  readonly contextWindowTokens: number;
  readonly maxOutputTokens: number;
  readonly maxRetries: number;
  readonly state: ModelState;
  readonly clock: Clock;
}

/** How often a held entry looks for its file. */
const HOLD_POLL_MS = 20;

/** A model that plays a file, for tests that drive a whole server. */
export function createScriptModel(options: ScriptModelOptions): ModelPort {
  return {
    provider: "script",
    model: options.model,
    contextWindowTokens: options.contextWindowTokens,
    maxOutputTokens: options.maxOutputTokens,
    maxRetries: options.maxRetries,
    allowsBackgroundRequests: false,
    stream: (request) => play(options, request),
  };
}

async function* play(
  options: ScriptModelOptions,
  request: ModelRequest,
): AsyncGenerator<ModelChunk, void, undefined> {
  if (request.signal.aborted) throw abortReason(request.signal);
  if (options.isLogged) log(options, request);
  const entry = nextEntry(options, request);
  if ("type" in entry) {
    yield entry;
    return;
  }
  const failure = entry.error && failureOf({ ...entry.error, words: [] });
  const isRefused = failure !== undefined && entry.error?.before_output === true;
  const chunks = isRefused ? [] : contentChunks(entry);
  const holdAt = Math.min(entry.hold_after_chunks ?? 0, chunks.length);
  for (const [index, chunk] of chunks.entries()) {
    if (index === holdAt) await hold(options, entry, request.signal);
    if (entry.delay_ms !== undefined) await sleep(options.clock, entry.delay_ms, request.signal);
    if (request.signal.aborted) throw abortReason(request.signal);
    yield* chunk;
  }
  if (holdAt === chunks.length) await hold(options, entry, request.signal);
  if (failure !== undefined) {
    yield failure;
    return;
  }
  const { input_tokens: inputTokens, output_tokens: outputTokens } = entry.usage ?? {
    input_tokens: 10,
    output_tokens: 5,
  };
  yield { type: "usage", usage: { inputTokens, outputTokens } };
  yield { type: "finish", reason: entry.tool_calls === undefined ? "stop" : "tool-calls" };
}

/** Takes the next entry of the loop's queue. The place is durable before anything is said. */
function nextEntry({ path, state }: ScriptModelOptions, { loop }: ModelRequest): ScriptEntry | ModelFailure {
  const queue = loop.agentNumber ?? undefined;
  const key = `script:${path}:${queue ?? "main"}`;
  const place = Number(state.read(key) ?? 0);
  let entries: ScriptEntry[];
  try {
    entries = scriptSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (thrown) {
    return configFailure(`the script ${path} cannot be played: ${describe(thrown)}`);
  }
  const entry = entries.filter(({ agent }) => agent === queue)[place];
  if (entry === undefined) {
    const owner = queue === undefined ? "the main loop" : `agent ${queue}`;
    return configFailure(`script exhausted: ${path} has ${place} entries for ${owner}`);
  }
  state.write(key, String(place + 1));
  return entry;
}

function contentChunks(entry: ScriptEntry): ModelChunk[][] {
  const texts = typeof entry.text === "string" ? [entry.text] : (entry.text ?? []);
  return [
    ...(entry.thinking === undefined ? [] : [[{ type: "thinking" as const, text: entry.thinking }]]),
    ...texts.map((text) => [{ type: "text" as const, text }]),
    ...(entry.tool_calls ?? []).map(callChunks),
  ];
}

function callChunks({ id, name, input, raw_input: rawInput }: ScriptCall): ModelChunk[] {
  const text = rawInput ?? JSON.stringify(input ?? {});
  const parsed = rawInput === undefined ? (input ?? {}) : parseToolInput(rawInput);
  return [
    { type: "tool-start", id, name },
    { type: "tool-delta", id, json: text },
    { type: "tool-end", id, name, ...(parsed === undefined ? { rawInput: text } : { input: parsed }) },
  ];
}

async function hold(
  { path, clock }: ScriptModelOptions,
  entry: ScriptEntry,
  signal: AbortSignal,
): Promise<void> {
  if (entry.hold === undefined) return;
  const file = join(dirname(path), `${entry.hold}.go`);
  while (!existsSync(file)) await sleep(clock, HOLD_POLL_MS, signal);
}

function log({ path, model, state }: ScriptModelOptions, request: ModelRequest): void {
  const key = `script-log:${path}`;
  const number = Number(state.read(key) ?? 0) + 1;
  state.write(key, String(number));
  const line = {
    n: number,
    session_id: request.loop.sessionId,
    agent: request.loop.agentNumber,
    profile: request.loop.profile,
    model,
    system: request.system,
    messages: request.messages,
    tools: request.tools.map(({ name }) => name),
    max_tokens: request.maxOutputTokens,
  };
  // Written at once, so that lines stand in the order of the requests.
  appendFileSync(`${path}.log.jsonl`, `${JSON.stringify(line)}\n`);
}

function configFailure(message: string): ModelFailure {
  return { type: "error", kind: "config", message };
}

function describe(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
