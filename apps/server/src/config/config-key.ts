import type { z } from "zod";

/** One setting: its type, where it may come from, and what it is when nobody says. */
export interface ConfigKey<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  readonly default: z.output<Schema>;
  readonly description: string;
  /** Environment variable, when there is one. */
  readonly env?: string;
  /** Never printed. */
  readonly isSecret?: boolean;
  /** A path: relative ones are taken from where the value was written. */
  readonly isPath?: boolean;
}

/** A setting with its own types. */
export function key<Schema extends z.ZodType>(definition: ConfigKey<Schema>): ConfigKey<Schema> {
  return definition;
}
