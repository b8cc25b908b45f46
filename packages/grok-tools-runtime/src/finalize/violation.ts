import { TriviumError } from "@trivium/core";
import { shorten } from "../shorten.ts";

const brand: unique symbol = Symbol.for("trivium.finalize-config-error");

/** Machine token of a violation. Contract: FinalizeConfigViolation.category */
export type ViolationCategory =
  | "params_json_parse"
  | "params_type"
  | "params_unknown_field"
  | "params_missing_field"
  | "params_unknown_variant"
  | "params_invalid"
  | "params_constraint"
  | "params_conflict"
  | "tool_not_found"
  | "behavior_preset"
  | "behavior_version"
  | "duplicate_client_name"
  | "duplicate_tool_id"
  | "file_toolset_conflict"
  | "requirements"
  | "name_override_invalid"
  | "param_override_unknown"
  | "param_override_collision"
  | "param_override_invalid"
  | "initial_state_parse"
  | "initial_state_shape"
  | "callback_addr"
  | "truncation_invalid"
  | "tools_limit";

/** One reason why a tool configuration was refused. */
export interface Violation {
  /** Position in the configuration; undefined when the whole is concerned. */
  readonly entryIndex?: number | undefined;
  /** The entry's id, `(global)` or `(file-toolset)`. */
  readonly toolId: string;
  readonly fieldPath?: string | undefined;
  readonly message: string;
  readonly expected?: string | undefined;
  /** JSON text of the refused value, at most 256 bytes; absent for values that may be secret. */
  readonly badValueJson?: string | undefined;
  readonly category: ViolationCategory;
}

const MAX_VIOLATIONS = 50;
const MAX_BAD_VALUE_BYTES = 256;
/** Of texts that may repeat what the request said. */
const MAX_TEXT_LENGTH = 500;

/** A refused tool configuration. The session is as before. */
export class FinalizeConfigError extends TriviumError {
  override readonly name: string = "FinalizeConfigError";
  /** At least one, at most 50. */
  readonly violations: readonly Violation[];

  constructor(violations: readonly Violation[]) {
    const [first] = violations;
    const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
    super(
      "invalidInput",
      `the tool configuration was refused: ${shorten(first?.message ?? "invalid", MAX_TEXT_LENGTH)}${more}`,
    );
    this.violations = violations.slice(0, MAX_VIOLATIONS).map(withShortTexts);
    Object.defineProperty(this, brand, { value: true });
  }

  static override isInstance(value: unknown): value is FinalizeConfigError {
    return value instanceof Error && brand in value;
  }
}

function withShortTexts(violation: Violation): Violation {
  const { toolId, fieldPath, message, expected } = violation;
  return {
    ...violation,
    toolId: shorten(toolId),
    message: shorten(message, MAX_TEXT_LENGTH),
    ...(fieldPath !== undefined && { fieldPath: shorten(fieldPath) }),
    ...(expected !== undefined && { expected: shorten(expected, MAX_TEXT_LENGTH) }),
  };
}

/** JSON text of a refused value for a violation; undefined when the key's name says that it may be secret. */
export function badValueOf(key: string, value: unknown): string | undefined {
  if (/secret|token|key|password|authorization/i.test(key) || value === undefined) return undefined;
  return cutToBytes(JSON.stringify(value), MAX_BAD_VALUE_BYTES);
}

/** The longest beginning that has at most `maxBytes` bytes in UTF-8. */
function cutToBytes(text: string, maxBytes: number): string {
  const target = new Uint8Array(maxBytes);
  const { read } = new TextEncoder().encodeInto(text, target);
  return text.slice(0, read);
}
