import { join } from "node:path";
import { fromJson } from "@bufbuild/protobuf";
import { ExecutionOptionsSchema } from "@trivium/proto/grok-tools";
import { type Answer, toAnswer, toFailedAnswer } from "./answer.ts";
import { fillCaseDirectory, makeCaseDirectory, strayFilesIn } from "./case-directory.ts";
import { checkAnswer, type Difference } from "./check-answer.ts";
import { checkFinalize, finalizeCase, type ToolsClient } from "./finalize-case.ts";
import { atPointer } from "./json-pointer.ts";
import { Placeholders } from "./placeholders.ts";
import { toolsetOf } from "./toolset.ts";
import {
  type Expectation,
  expectationOf,
  type FailureMode,
  failureModeHeader,
  isFailure,
  type Step,
  type Vector,
} from "./vector.ts";

/** Where a case runs. */
export interface Surroundings {
  readonly client: ToolsClient;
  readonly workspace: string;
  /** Unused name, for the session and its directory. */
  readonly name: string;
  readonly mode: FailureMode;
}

/** What a replay saw. */
export interface Replay {
  readonly differences: readonly (Difference & { readonly step: number | "finalize" })[];
  /** What the steps that are to fail brought, with the placeholder in place of the directory. */
  readonly failures: readonly unknown[];
}

/** Runs one case in a session and a directory of its own. */
export async function replayCase(vector: Vector, surroundings: Surroundings): Promise<Replay> {
  const { client, workspace, name, mode } = surroundings;
  const cwd = await makeCaseDirectory(join(workspace, name));
  const placeholders = new Placeholders(cwd);
  await fillCaseDirectory(cwd, placeholders.fill(vector.setup ?? {}));
  const headers = { "x-trivium-session": name };

  const entries = placeholders.fill(toolsetOf(vector));
  const finalized = await finalizeCase({ client, entries, headers: { ...headers, "x-trivium-cwd": cwd } });
  const differences: (Difference & { step: number | "finalize" })[] = checkFinalize(vector, finalized).map(
    (one) => ({ step: "finalize", ...one }),
  );
  const failures: unknown[] = [];
  if (differences.length > 0 || vector.finalize_expect?.violations !== undefined)
    return { differences, failures };

  const clientNames = new Map(entries.map(({ id }, index) => [id, finalized.names[index] ?? ""]));
  for (const [index, recorded] of vector.steps.entries()) {
    const step = placeholders.fill(recorded);
    const answer = await execute({
      client,
      step,
      toolName: clientNames.get(step.tool ?? vector.tool) ?? "",
      headers: { ...headers, ...(mode === "output" && { [failureModeHeader]: mode }), ...step.headers },
    });
    for (const [captured, pointer] of Object.entries(step.capture ?? {}))
      placeholders.set(captured, String(atPointer(answer.output, pointer)));
    const found = [
      ...(await checkAnswer(placeholders.fill(inMode(step, mode)), answer, cwd)),
      ...checkCallId(step, answer),
      ...(await strayFilesIn(cwd)).map((seen) => ({ check: "stray file", expected: "none", seen })),
    ];
    differences.push(...found.map((one) => ({ step: index, ...one })));
    if (isFailure(expectationOf(step)))
      failures.push(withoutDirectory({ output: answer.output, text: answer.text }, cwd));
  }
  return { differences, failures };
}

/** What only errors have. */
const errorKeys = ["error_code", "error_code_any", "details_equals", "retryable", "has_suggestion"];

/** The output mode turns a failure that has an output into a success with it. */
function inMode(step: Step, mode: FailureMode): Expectation {
  const expectation = expectationOf(step);
  const keepsMode = mode === "error" || step.headers?.[failureModeHeader] !== undefined;
  if (keepsMode || !isFailure(expectation) || expectation.variant === undefined) return expectation;
  const others = Object.entries(expectation).filter(([key]) => !errorKeys.includes(key));
  return { ...Object.fromEntries(others), ok: true };
}

async function execute(call: {
  readonly client: ToolsClient;
  readonly step: Step;
  readonly toolName: string;
  readonly headers: Readonly<Record<string, string>>;
}): Promise<Answer> {
  const { step, toolName, headers } = call;
  const start = performance.now();
  const request = {
    toolName,
    inputJson: JSON.stringify(step.input),
    ...(step.call_id !== undefined && { callId: step.call_id }),
    ...(step.options !== undefined && { options: fromJson(ExecutionOptionsSchema, step.options) }),
  };
  let response: Awaited<ReturnType<ToolsClient["executeTool"]>>;
  try {
    response = await call.client.executeTool(request, { headers });
  } catch (thrown) {
    return toFailedAnswer(thrown, performance.now() - start);
  }
  return toAnswer(response, performance.now() - start);
}

function checkCallId({ call_id }: Step, { ending, callId }: Answer): Difference[] {
  const holds = ending === "rpc failure" || (call_id === undefined ? callId !== "" : callId === call_id);
  return holds ? [] : [{ check: "call_id", expected: call_id ?? "not empty", seen: callId }];
}

function withoutDirectory(value: unknown, cwd: string): unknown {
  if (typeof value === "string") return value.replaceAll(cwd, "${CWD}");
  if (isBytes(value)) return withoutDirectory(Buffer.from(value).toString(), cwd);
  if (Array.isArray(value)) return value.map((one) => withoutDirectory(one, cwd));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutDirectory(one, cwd)]));
}

/** Byte buffers of outputs are lists of numbers. */
function isBytes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "number");
}
