import { z } from "zod";

/** A kind of agent that settings describe. */
export interface AgentTypeSettings {
  readonly modelProfile: string | undefined;
  /** Empty: as the general type. */
  readonly allowedTools: readonly string[];
  /** Undefined: the built-in one. */
  readonly prompt: string | undefined;
}

/** The `agent` object of the settings, ready for use. */
export interface AgentSettings {
  /** Model requests of one run; 0 is no limit. */
  readonly maxTurns: number;
  /** How long the `Agent` tool waits. */
  readonly timeoutMs: number;
  /** Characters of a result that go to a model. */
  readonly maxOutputChars: number;
  /** Agents that run at once; the others wait. */
  readonly maxConcurrency: number;
  /** Agents of the main loop have depth 1. */
  readonly maxDepth: number;
  /** Agents of a session that may wait or run, of all depths. */
  readonly maxActive: number;
  readonly types: ReadonlyMap<string, AgentTypeSettings>;
}

const agentType = z
  .object({
    model_profile: z.string().optional().catch(undefined),
    allowed_tools: z.array(z.string()).catch([]),
    prompt: z.string().optional().catch(undefined),
  })
  .transform(
    ({ model_profile, allowed_tools, prompt }): AgentTypeSettings => ({
      modelProfile: model_profile,
      allowedTools: allowed_tools,
      prompt,
    }),
  );

const agentFile = z.object({
  max_turns: z.int().min(0).catch(10),
  timeout: z.number().positive().catch(300),
  max_output_chars: z.int().min(100).catch(12_000),
  max_concurrency: z.int().min(1).catch(4),
  max_depth: z.int().min(1).catch(2),
  max_active_agents_per_run: z.int().min(1).catch(16),
  types: z.record(z.string(), z.unknown()).catch({}),
});

/** A value that cannot be used counts as absent; a type that is no object is left out. */
export const agentSettings: z.ZodType<AgentSettings> = z
  .preprocess((value) => (typeof value === "object" && value !== null ? value : {}), agentFile)
  .transform((file) => ({
    maxTurns: file.max_turns,
    timeoutMs: file.timeout * 1000,
    maxOutputChars: file.max_output_chars,
    maxConcurrency: file.max_concurrency,
    maxDepth: file.max_depth,
    maxActive: file.max_active_agents_per_run,
    types: new Map(
      Object.entries(file.types).flatMap(([name, value]) => {
        const parsed = agentType.safeParse(value).data;
        return parsed === undefined ? [] : [[name, parsed] as const];
      }),
    ),
  }));
