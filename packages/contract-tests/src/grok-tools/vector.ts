import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** One case: a session with a directory of its own. The files of vectors are data: their field names are kept. */
export interface Vector {
  readonly id: string;
  readonly tool: string;
  readonly requires?: readonly string[];
  readonly setup?: Setup;
  readonly params?: JsonObject;
  readonly behavior_version?: string;
  readonly tools?: readonly ConfigEntry[];
  readonly finalize_expect?: {
    readonly names?: readonly string[];
    readonly violations?: readonly Readonly<Record<string, JsonValue>>[];
  };
  readonly upstream_quirk?: boolean;
  readonly why?: string;
  readonly steps: readonly Step[];
}

export interface Setup {
  readonly files?: Readonly<Record<string, string>>;
  readonly files_base64?: Readonly<Record<string, string>>;
  readonly files_repeat?: Readonly<Record<string, { readonly unit: string; readonly count: number }>>;
  readonly dirs?: readonly string[];
  readonly symlinks?: Readonly<Record<string, string>>;
  readonly mtimes?: Readonly<Record<string, number>>;
  readonly git_init?: boolean;
}

/** An entry of a finalize request, as it is stored in files. */
export interface ConfigEntry {
  readonly id: string;
  readonly params_json?: string | null;
  readonly name_override?: string | null;
  readonly params_name_overrides?: Readonly<Record<string, string>>;
  readonly behavior_version?: string | null;
  readonly description_override?: string | null;
}

export interface Step {
  readonly tool?: string;
  readonly input: JsonValue;
  readonly call_id?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly options?: JsonObject;
  readonly capture?: Readonly<Record<string, string>>;
  readonly expect: Expectation;
  readonly ours?: Expectation;
}

export interface Expectation {
  readonly ok?: true;
  readonly error_code?: string;
  readonly error_code_any?: readonly string[];
  readonly rpc_code?: string;
  readonly variant?: string;
  readonly output_equals?: Readonly<Record<string, JsonValue>>;
  readonly output_absent?: readonly string[];
  readonly output_contains?: readonly { readonly pointer: string; readonly text: string }[];
  readonly details_equals?: Readonly<Record<string, JsonValue>>;
  readonly prompt_equals?: string;
  readonly prompt_starts_with?: string;
  readonly prompt_contains?: readonly string[];
  readonly prompt_not_contains?: readonly string[];
  readonly file_after?: Readonly<Record<string, string | { readonly base64: string } | null>>;
  readonly retryable?: boolean;
  readonly has_suggestion?: boolean;
  readonly metadata_truncated?: boolean;
  readonly max_ms?: number;
}

/** Keys that a case, its set-up and its steps may have. */
export const caseKeys = keysOf<Vector>({
  id: true,
  tool: true,
  requires: true,
  setup: true,
  params: true,
  behavior_version: true,
  tools: true,
  finalize_expect: true,
  upstream_quirk: true,
  why: true,
  steps: true,
});
export const setupKeys = keysOf<Setup>({
  files: true,
  files_base64: true,
  files_repeat: true,
  dirs: true,
  symlinks: true,
  mtimes: true,
  git_init: true,
});
export const stepKeys = keysOf<Step>({
  tool: true,
  input: true,
  call_id: true,
  headers: true,
  options: true,
  capture: true,
  expect: true,
  ours: true,
});

/** How logical failures travel: as errors, or as outputs of a call that went well. */
export type FailureMode = "error" | "output";

/** The header that chooses the {@link FailureMode} of a call. */
export const failureModeHeader = "x-trivium-logical-errors";

/** What holds for this server: a step with `ours` replaces what the original does. */
export function expectationOf(step: Step): Expectation {
  return step.ours ?? step.expect;
}

/** Whether a tool error is expected. */
export function isFailure({ error_code, error_code_any }: Expectation): boolean {
  return (error_code ?? error_code_any) !== undefined;
}

/** Whether the case has a failure that the mode could change. */
export function hasFailures({ steps }: Vector): boolean {
  return steps.some(
    (step) => isFailure(expectationOf(step)) && step.headers?.[failureModeHeader] === undefined,
  );
}

/** The keys of a type; the compiler sees to it that none is forgotten. */
function keysOf<Type>(keys: Record<keyof Type, true>): readonly string[] {
  return Object.keys(keys);
}
