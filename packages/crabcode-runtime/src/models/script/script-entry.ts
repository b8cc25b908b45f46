import { z } from "zod";

/** One entry of a script: what the model says to one request. */
export const scriptSchema: z.ZodType<ScriptEntry[]> = z.array(
  z.object({
    agent: z.int().positive().optional(),
    thinking: z.string().optional(),
    text: z.union([z.string(), z.array(z.string())]).optional(),
    tool_calls: z
      .array(
        z.object({
          id: z.string(),
          name: z.string(),
          input: z.record(z.string(), z.unknown()).optional(),
          raw_input: z.string().optional(),
        }),
      )
      .optional(),
    usage: z.object({ input_tokens: z.number(), output_tokens: z.number() }).optional(),
    delay_ms: z.number().nonnegative().optional(),
    hold: z
      .string()
      .regex(/^[^/\\]+$/)
      .optional(),
    hold_after_chunks: z.int().nonnegative().optional(),
    error: z.object({ status: z.number(), message: z.string(), before_output: z.boolean() }).optional(),
  }),
);

/** See {@link scriptSchema}. The keys are those of the file. */
export interface ScriptEntry {
  /** Which agent of the session it is for, 1-based; absent is the main loop. */
  readonly agent?: number | undefined;
  readonly thinking?: string | undefined;
  /** One chunk per element. */
  readonly text?: string | readonly string[] | undefined;
  readonly tool_calls?: readonly ScriptCall[] | undefined;
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number } | undefined;
  /** Waited before every chunk. */
  readonly delay_ms?: number | undefined;
  /** Waits until the file `<hold>.go` exists beside the script. */
  readonly hold?: string | undefined;
  readonly hold_after_chunks?: number | undefined;
  readonly error?:
    | { readonly status: number; readonly message: string; readonly before_output: boolean }
    | undefined;
}

/** One call of an entry. `raw_input` is the argument text as a provider would have written it. */
export interface ScriptCall {
  readonly id: string;
  readonly name: string;
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  readonly raw_input?: string | undefined;
}
