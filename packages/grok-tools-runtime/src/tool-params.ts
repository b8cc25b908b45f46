import type { z } from "zod";
import { isJsonObject, type JsonObject } from "./json.ts";

/** A value of the configuration that breaks a rule of the tool. */
export interface ParamsProblem {
  /** Key in the params; nested keys with dots. */
  readonly key: string;
  /** What would be right, for example `1..=4`. */
  readonly expected: string;
  readonly message: string;
}

/**
 * The configuration a caller can give a tool at finalize (`params_json`). Tools that use the same definition share
 * one set of values.
 */
export interface ParamsDefinition<Params = unknown> {
  /** Key under `params` of the tool state, for example `grok_build.Bash`. */
  readonly stateKey: string;
  /** Every key has a default, so that an empty object is valid. Strict types: no coercions. */
  readonly schema: z.ZodType<Params>;
  /** False: unknown keys are ignored and reported as a warning instead of refused. Default true. */
  readonly strict?: boolean;
  /** Keys that only a request itself may set: values from saved or initial state are ignored. */
  readonly explicitOnlyKeys?: readonly string[];
  /** The params as they may be shown and saved, when they can hold secrets. Default: as they are. */
  withoutSecrets?(params: Params): Params;
  /** Rules between keys. Empty: all kept. */
  check?(params: Params): readonly ParamsProblem[];
}

/** Params of a tool, or some of them, as they may be shown: without secrets. */
export function shownParams(definition: ParamsDefinition | undefined, params: JsonObject): JsonObject {
  const shown = definition?.withoutSecrets?.(definition.schema.parse(params));
  if (!isJsonObject(shown)) return params;
  return Object.fromEntries(Object.entries(params).map(([key, value]) => [key, shown[key] ?? value]));
}
