import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Answer } from "./answer.ts";
import { exists } from "./case-directory.ts";
import { atPointer } from "./json-pointer.ts";
import type { Expectation } from "./vector.ts";

/** One way in which an answer is not what its step expects. */
export interface Difference {
  readonly check: string;
  readonly expected: unknown;
  readonly seen: unknown;
}

type Seen = readonly [expected: unknown, seen: unknown];
type Check<Key extends keyof Expectation> = (
  wanted: NonNullable<Expectation[Key]>,
  answer: Answer,
) => readonly Seen[];

/** Pairs that differ, per key. Files are looked at by {@link checkAnswer} itself. */
const checks: { readonly [Key in Exclude<keyof Expectation, "file_after">]-?: Check<Key> } = {
  ok: (_, answer) => unless(answer.ending === "success", ["success", answer]),
  error_code: (wanted, answer) =>
    unless(answer.ending === "error" && answer.code === wanted, [wanted, answer]),
  error_code_any: (wanted, answer) =>
    unless(answer.ending === "error" && wanted.includes(answer.code ?? ""), [wanted, answer]),
  rpc_code: (wanted, answer) =>
    unless(answer.ending === "rpc failure" && answer.code === wanted, [wanted, answer]),
  variant(wanted, { output }) {
    const [type, inner] = wanted.split(".");
    const holds =
      atPointer(output, "/type") === type &&
      (inner === undefined || atPointer(output, `/${inner}`) !== undefined);
    return unless(holds, [wanted, output]);
  },
  output_equals: (wanted, { output }) => equal(wanted, output),
  output_absent: (wanted, { output }) =>
    wanted
      .filter((pointer) => atPointer(output, pointer) !== undefined)
      .map((pointer) => [`no ${pointer}`, atPointer(output, pointer)]),
  output_contains: (wanted, { output }) =>
    wanted.flatMap(({ pointer, text }) => {
      const seen = atPointer(output, pointer);
      return unless(typeof seen === "string" && seen.includes(text), [text, seen]);
    }),
  details_equals: (wanted, { details }) => equal(wanted, details),
  prompt_equals: (wanted, { text }) => unless(text === wanted, [wanted, text]),
  prompt_starts_with: (wanted, { text }) => unless(text.startsWith(wanted), [wanted, text]),
  prompt_contains: (wanted, { text }) =>
    wanted.filter((part) => !text.includes(part)).map((part) => [part, text]),
  prompt_not_contains: (wanted, { text }) =>
    wanted.filter((part) => text.includes(part)).map((part) => [`no ${part}`, text]),
  retryable: (wanted, { isRetryable }) => unless(isRetryable === wanted, [wanted, isRetryable]),
  has_suggestion: (wanted, { hasSuggestion }) => unless(hasSuggestion === wanted, [wanted, hasSuggestion]),
  metadata_truncated: (wanted, { isTruncated }) => unless(isTruncated === wanted, [wanted, isTruncated]),
  max_ms: (wanted, { durationMs }) => unless(durationMs <= wanted, [wanted, durationMs]),
};

/** Keys an expectation may have. */
export const expectationKeys: ReadonlySet<string> = new Set([...Object.keys(checks), "file_after"]);

/** In which ways an answer, and the files after it, are not what was expected. Empty: in none. */
export async function checkAnswer(
  expectation: Expectation,
  answer: Answer,
  cwd: string,
): Promise<Difference[]> {
  const pairs = Object.entries(checks).flatMap(([key, check]) => {
    const wanted = expectation[key as keyof typeof checks];
    if (wanted === undefined) return [];
    return (check as (wanted: unknown, answer: Answer) => readonly Seen[])(wanted, answer).map(
      (seen) => [key, seen] as const,
    );
  });
  if (answer.ending === "rpc failure" && expectation.rpc_code === undefined) {
    pairs.unshift(["rpc_code", ["a response", answer]]);
  }
  return [
    ...pairs.map(([check, [expected, seen]]) => ({ check, expected, seen })),
    ...(await checkFiles(expectation, cwd)),
  ];
}

async function checkFiles({ file_after = {} }: Expectation, cwd: string): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const [name, wanted] of Object.entries(file_after)) {
    const path = resolve(cwd, name);
    const check = `file_after ${name}`;
    if (!(await exists(path))) {
      if (wanted !== null) differences.push({ check, expected: wanted, seen: "no file" });
      continue;
    }
    const expected = typeof wanted === "string" ? Buffer.from(wanted) : bytesOf(wanted);
    const seen = await readFile(path);
    if (expected?.equals(seen) !== true) differences.push({ check, expected: wanted, seen: seen.toString() });
  }
  return differences;
}

function bytesOf(wanted: { readonly base64: string } | null): Buffer | undefined {
  return wanted === null ? undefined : Buffer.from(wanted.base64, "base64");
}

function unless(holds: boolean, seen: Seen): readonly Seen[] {
  return holds ? [] : [seen];
}

function equal(wanted: Readonly<Record<string, unknown>>, value: unknown): readonly Seen[] {
  return Object.entries(wanted).flatMap(([pointer, expected]) => {
    const seen = atPointer(value, pointer);
    return unless(isDeepStrictEqual(seen, expected), [{ [pointer]: expected }, { [pointer]: seen }]);
  });
}
