import { type Clock, systemClock } from "@trivium/core";
import { CrabcodeError } from "../crabcode-error.ts";
import type { ModelCatalogue, ModelPort, ModelProfileEntry, OpenModelOptions } from "../ports/model-port.ts";
import type { ApiConfig, ModelSettings } from "../settings/model-settings.ts";
import { createAiSdkModel } from "./ai-sdk/ai-sdk-model.ts";
import { createOfflineModel, OFFLINE_MODEL, OFFLINE_PROFILE } from "./offline/offline-model.ts";
import {
  type Environment,
  isUnusable,
  type ResolvedProfile,
  resolveProfile,
  type UnusableProfile,
} from "./resolve-profile.ts";
import { createScriptModel } from "./script/script-model.ts";

/** What models take from the machine they run on. */
export interface ModelEnvironment {
  /** Environment variables: keys and addresses of providers. */
  readonly variables: Environment;
  /** Makes profiles of provider `script` usable. Default false. */
  readonly isTesting?: boolean;
  /** Default: the real one. */
  readonly clock?: Clock;
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch;
}

/** What is known of one profile without opening it. */
export interface ProfileCheck {
  readonly name: string;
  readonly description: string;
  /** Absent when the profile can be opened. */
  readonly problem?: string;
}

/** Profiles that settings describe, over the adapters of this package. Keeps nothing between calls. */
export interface CheckedModelCatalogue extends ModelCatalogue {
  /** Every listed profile with what it lacks, for diagnosis. */
  check(settings: ModelSettings): readonly ProfileCheck[];
}

/** Name under which the base profile is listed. */
const BASE_PROFILE = "default";

/** The catalogue of one server. */
export function createModelCatalogue(environment: ModelEnvironment): CheckedModelCatalogue {
  return {
    list: (settings) => list(settings, environment),
    defaultProfile: (settings) => defaultProfile(settings, environment),
    open: (profile, options) => open(profile, options, environment),
    check: (settings) =>
      list(settings, environment).map((entry) => {
        const usability = lacks(configOf(entry.name, settings, environment) ?? {}, environment);
        return usability === undefined ? entry : { ...entry, problem: usability.message };
      }),
  };
}

function list(settings: ModelSettings, environment: ModelEnvironment): ModelProfileEntry[] {
  const names = Object.keys(settings.models).filter((name) => name !== OFFLINE_PROFILE);
  if (!names.includes(BASE_PROFILE) && baseConfig(settings, environment) !== undefined)
    names.push(BASE_PROFILE);
  return [...names, OFFLINE_PROFILE].map((name) => ({
    name,
    description: describe(configOf(name, settings, environment) ?? {}),
  }));
}

function describe({ provider, model }: ApiConfig): string {
  const parts = [provider, model].filter((part) => part !== undefined && part !== "");
  return parts.length === 0 ? "(no model set)" : parts.join("/");
}

/**
 * The configured default, else the base profile, else the first configured one that can be opened, else what a key
 * in the environment stands for. A profile that only lacks its key gives way to `offline`, which says so; one that is configured wrongly stays, so that the
 * mistake is seen.
 */
function defaultProfile(settings: ModelSettings, environment: ModelEnvironment): string {
  const base = baseConfig(settings, environment);
  const usable = Object.keys(settings.models).find((candidate) => {
    const candidateConfig = configOf(candidate, settings, environment);
    return candidateConfig !== undefined && lacks(candidateConfig, environment) === undefined;
  });
  const name =
    settings.defaultModel ??
    (base === settings.api ? BASE_PROFILE : undefined) ??
    usable ??
    (base === undefined ? OFFLINE_PROFILE : BASE_PROFILE);
  const config = configOf(name, settings, environment);
  if (config === undefined || lacks(config, environment)?.lacks === "credentials") return OFFLINE_PROFILE;
  return name;
}

function open(name: string, options: OpenModelOptions, environment: ModelEnvironment): ModelPort {
  const { settings } = options;
  const config = configOf(name, settings, environment);
  if (config === undefined) {
    const names = list(settings, environment).map((entry) => entry.name);
    throw new CrabcodeError("MODEL_NOT_FOUND", `no model named ${name}; there are: ${names.join(", ")}`);
  }
  if (config.provider === OFFLINE_PROFILE) return createOfflineModel(offlineReason(settings, environment));
  const unusable = lacks(config, environment);
  if (unusable !== undefined) throw unusableError(name, unusable);
  const { clock = systemClock, fetch = globalThis.fetch } = environment;
  if (config.provider === "script") return openScript(config, options, clock);
  const profile = resolveProfile(config, environment.variables);
  if (isUnusable(profile)) throw unusableError(name, profile);
  return createAiSdkModel(profile, { clock, fetch });
}

function openScript(config: ApiConfig, { state }: OpenModelOptions, clock: Clock): ModelPort {
  return createScriptModel({
    path: config.script_path ?? "",
    model: config.model ?? "script",
    isLogged: config.script_log === true,
    contextWindowTokens: config.context_window ?? 200_000,
    maxOutputTokens: config.max_tokens ?? 16_384,
    maxRetries: config.max_retries ?? 5,
    state,
    clock,
  });
}

function unusableError(name: string, { message }: UnusableProfile): CrabcodeError {
  return new CrabcodeError("PROFILE_UNUSABLE", `the model ${name} cannot be used: ${message}`);
}

function configOf(
  name: string,
  settings: ModelSettings,
  environment: ModelEnvironment,
): ApiConfig | undefined {
  if (name === OFFLINE_PROFILE) return { provider: OFFLINE_PROFILE, model: OFFLINE_MODEL };
  if (Object.hasOwn(settings.models, name)) return settings.models[name];
  return name === BASE_PROFILE ? baseConfig(settings, environment) : undefined;
}

/** The base profile, if it says anything; else what a provider key in the environment stands for by itself. */
function baseConfig(settings: ModelSettings, { variables }: ModelEnvironment): ApiConfig | undefined {
  const { api } = settings;
  if (api.provider !== undefined || api.model !== undefined) return api;
  // OpenAI is the one provider with both a usual key variable and a default model.
  return variables["OPENAI_API_KEY"] ? { ...api, provider: "openai", model: "gpt-4o" } : undefined;
}

function lacks(config: ApiConfig, environment: ModelEnvironment): UnusableProfile | undefined {
  if (config.provider === OFFLINE_PROFILE) return undefined;
  if (config.provider === "script") return scriptLacks(config, environment);
  const profile: ResolvedProfile | UnusableProfile = resolveProfile(config, environment.variables);
  return isUnusable(profile) ? profile : undefined;
}

function scriptLacks(
  { script_path: path }: ApiConfig,
  { isTesting }: ModelEnvironment,
): UnusableProfile | undefined {
  if (isTesting !== true) {
    return {
      lacks: "configuration",
      message: "the provider script needs the server option crabcode.testing",
    };
  }
  return path === undefined
    ? { lacks: "configuration", message: "a profile of provider script needs the key script_path" }
    : undefined;
}

/** Why the configured default is not used, for the answers of `offline`. */
function offlineReason(settings: ModelSettings, environment: ModelEnvironment): string | undefined {
  const name = settings.defaultModel ?? BASE_PROFILE;
  const config = configOf(name, settings, environment);
  if (config === undefined) {
    if (settings.defaultModel !== undefined) return `there is no model named ${name}`;
    // Unlike OpenAI, Anthropic has no default model to fall back to.
    return environment.variables["ANTHROPIC_API_KEY"]
      ? "ANTHROPIC_API_KEY is set, but no profile names a model"
      : undefined;
  }
  return lacks(config, environment)?.message;
}
