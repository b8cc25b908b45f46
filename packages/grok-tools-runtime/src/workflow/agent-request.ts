import { z } from "zod";
import { isJsonObject, type JsonValue } from "../json.ts";

/** One child that a script asks for. */
export interface AgentRequest {
  readonly prompt: string;
  readonly description?: string | undefined;
  readonly type?: string | undefined;
  readonly model?: string | undefined;
  readonly isolation?: "none" | "worktree" | undefined;
}

/** What became of a child. */
export interface AgentResult {
  readonly status: "completed" | "failed" | "cancelled";
  readonly output: string;
  /** Null unless it failed. */
  readonly error: string | null;
}

const options = {
  description: z.string().optional(),
  type: z.string().optional(),
  model: z.string().optional(),
  isolation: z.enum(["none", "worktree"]).optional(),
};
const prompt = z.string().trim().min(1, "it is blank");
const request: z.ZodType<AgentRequest> = z.strictObject({ prompt, ...options });
const items = z.array(z.union([prompt.transform((text) => ({ prompt: text })), request]));

/** The arguments of `agent(prompt, options)`. @throws an error that tells the script what is wrong. */
export function parseAgent(input: { readonly prompt: JsonValue; readonly options: JsonValue }): AgentRequest {
  const given = isJsonObject(input.options) ? input.options : {};
  const parsed = request.safeParse({ ...given, prompt: input.prompt });
  if (parsed.success) return parsed.data;
  throw new Error(`agent(prompt, { description, type, model, isolation }): ${problemOf(parsed.error)}`);
}

/** The argument of `parallel(items)`. @throws an error that tells the script what is wrong. */
export function parseParallel(input: { readonly items: JsonValue }): readonly AgentRequest[] {
  const parsed = items.safeParse(input.items);
  if (parsed.success) return parsed.data;
  throw new Error(`parallel([prompt or { prompt, description, … }, …]): ${problemOf(parsed.error)}`);
}

function problemOf({ issues: [issue] }: z.ZodError): string {
  const place = (issue?.path ?? []).map(String).join(".");
  return `${place === "" ? "" : `${place}: `}${issue?.message ?? "it does not fit"}`;
}
