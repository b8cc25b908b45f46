import type { z } from "zod";
import type { JsonObject } from "../json.ts";
import { ToolError } from "../tool-error.ts";

/**
 * The error for input that does not fit a tool's schema. Of several problems the first in the order of the schema
 * counts. The place is named as the caller wrote it: `todos[0].id`, top-level names through `nameOf`.
 */
export function toInputError(
  error: z.ZodError,
  input: JsonObject,
  nameOf: (canonicalName: string) => string,
): ToolError {
  const issue = innermost(error.issues[0]);
  const path = issue?.path ?? [];
  const field = path.map((part, index) => pathPart(part, index, nameOf)).join("");
  if (issue === undefined || field === "") {
    return ToolError.invalidField(field, `invalid input: ${issue?.message ?? "it does not fit the schema"}`);
  }
  if (valueAt(input, path) === undefined) return ToolError.missingField(field);
  return ToolError.invalidField(field, `parameter \`${field}\`: ${describe(issue)}`);
}

type Issue = z.core.$ZodIssue;

/** A union reports per branch; the branch that got furthest tells most. */
function innermost(issue: Issue | undefined): Issue | undefined {
  if (issue?.code !== "invalid_union") return issue;
  const branches = issue.errors.map((branch) => innermost(branch[0])).filter((inner) => inner !== undefined);
  branches.sort((left, right) => right.path.length - left.path.length);
  const [deepest] = branches;
  if (deepest === undefined || deepest.path.length === 0) return issue;
  return { ...deepest, path: [...issue.path, ...deepest.path] };
}

function pathPart(part: PropertyKey, index: number, nameOf: (name: string) => string): string {
  if (typeof part === "number") return `[${part}]`;
  return index === 0 ? nameOf(String(part)) : `.${String(part)}`;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const part of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

function describe(issue: Issue): string {
  return issue.code === "invalid_type" ? `expected ${issue.expected}` : issue.message;
}
