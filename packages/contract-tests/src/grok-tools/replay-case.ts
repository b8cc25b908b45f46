import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { fromJson } from "@bufbuild/protobuf";
import { type Client, ConnectError } from "@connectrpc/connect";
import {
  ExecutionOptionsSchema,
  FinalizeConfigValidationDetailsSchema,
  type GrokToolsService,
} from "@trivium/proto/grok-tools";
import { type Answer, toAnswer, toFailedAnswer } from "./answer.ts";
import { fillCaseDirectory, makeCaseDirectory, strayFilesIn } from "./case-directory.ts";
import { checkAnswer, type Difference } from "./check-answer.ts";
import { atPointer } from "./json-pointer.ts";
import { Placeholders } from "./placeholders.ts";
import { toolsetOf } from "./toolset.ts";
import {
  type ConfigEntry,
  type Expectation,
  expectationOf,
  type FailureMode,
  failureModeHeader,
  isFailure,
  type Step,
  type Vector,
} from "./vector.ts";

/** The raw client of the service under test. */
export type ToolsClient = Client<typeof GrokToolsService>;

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
  /** The outputs of the steps that are to fail, with the placeholder in place of the directory. */
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
  const finalized = await finalize({ client, entries, headers: { ...headers, "x-trivium-cwd": cwd } });
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
    if (isFailure(expectationOf(step))) failures.push(withoutDirectory(answer.output, cwd));
  }
  return { differences, failures };
}

/** The output mode turns a failure that has an output into a success with it. */
function inMode(step: Step, mode: FailureMode): Expectation {
  const expectation = expectationOf(step);
  const keepsMode = mode === "error" || step.headers?.[failureModeHeader] !== undefined;
  if (keepsMode || !isFailure(expectation) || expectation.variant === undefined) return expectation;
  const { error_code, error_code_any, details_equals, retryable, has_suggestion, ...others } = expectation;
  return { ...others, ok: true };
}

interface Finalized {
  readonly names: readonly string[];
  readonly refusal: ConnectError | undefined;
}

async function finalize(request: {
  readonly client: ToolsClient;
  readonly entries: readonly ConfigEntry[];
  readonly headers: Readonly<Record<string, string>>;
}): Promise<Finalized> {
  const tools = request.entries.map((entry) => ({
    id: entry.id,
    paramsNameOverrides: { ...entry.params_name_overrides },
    ...(typeof entry.params_json === "string" && { paramsJson: entry.params_json }),
    ...(typeof entry.name_override === "string" && { nameOverride: entry.name_override }),
    ...(typeof entry.behavior_version === "string" && { behaviorVersion: entry.behavior_version }),
    ...(typeof entry.description_override === "string" && {
      descriptionOverride: entry.description_override,
    }),
  }));
  const { headers } = request;
  try {
    const response = await request.client.finalizeToolConfigRequest(
      { tools, systemRemindersEnabled: false },
      { headers },
    );
    return { names: response.tools.map(({ name }) => name), refusal: undefined };
  } catch (thrown) {
    return { names: [], refusal: ConnectError.from(thrown) };
  }
}

function checkFinalize({ finalize_expect }: Vector, { names, refusal }: Finalized): Difference[] {
  const check = "finalize_expect";
  if (finalize_expect?.violations !== undefined) {
    const seen = refusal?.findDetails(FinalizeConfigValidationDetailsSchema)[0]?.violations ?? [];
    const wanted = finalize_expect.violations;
    const compared = seen.map((violation, index) =>
      Object.fromEntries(
        Object.keys(wanted[index] ?? {}).map((key) => [
          key,
          (violation as unknown as Record<string, unknown>)[toCamelCase(key)],
        ]),
      ),
    );
    const holds =
      toFailedAnswer(refusal, 0).code === "InvalidArgument" && isDeepStrictEqual(compared, wanted);
    return holds ? [] : [{ check, expected: wanted, seen: refusal ?? names }];
  }
  if (refusal !== undefined) return [{ check, expected: "a toolset", seen: refusal }];
  const wanted = finalize_expect?.names ?? names;
  return isDeepStrictEqual(names, wanted) ? [] : [{ check, expected: wanted, seen: names }];
}

function toCamelCase(name: string): string {
  return name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
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
  if (value === undefined) return undefined;
  const inJson = JSON.stringify(cwd).slice(1, -1);
  return JSON.parse(JSON.stringify(value).replaceAll(inJson, () => "${CWD}"));
}
