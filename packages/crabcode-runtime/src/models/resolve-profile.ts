import type { ApiConfig } from "../settings/model-settings.ts";
import { contextWindowOf } from "./context-window.ts";
import { modelPlace } from "./model-place.ts";
import { type ProviderFacts, providerFacts, type WireFormat } from "./providers.ts";

/** A profile with every default filled in, ready to be opened. */
export interface ResolvedProfile {
  readonly provider: string;
  readonly model: string;
  readonly wire: WireFormat;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Header that carries the key; undefined: the one of the API. */
  readonly keyHeader: string | undefined;
  /** Query parameters of every request. */
  readonly query: Readonly<Record<string, string>>;
  readonly contextWindowTokens: number;
  readonly maxOutputTokens: number;
  readonly thinking: { readonly budgetTokens: number } | undefined;
  /** Longest silence of the provider. */
  readonly chunkTimeoutMs: number;
  readonly maxRetries: number;
  readonly httpHeaders: Readonly<Record<string, string>>;
  /** Merged into the request body, over what the adapter writes. */
  readonly extraBody: Readonly<Record<string, unknown>>;
  readonly reasoningEffort: string | undefined;
  readonly passReasoningText: boolean;
}

/** Why a profile cannot be opened. `credentials`: only its key is missing. */
export interface UnusableProfile {
  readonly lacks: "credentials" | "configuration";
  /** Names the setting or the variable that would help. */
  readonly message: string;
}

/** Values of environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_MAX_TOKENS = 16_384;
const DEFAULT_THINKING_TOKENS = 10_000;
const DEFAULT_TIMEOUT_SECONDS = 300;
const DEFAULT_RETRIES = 5;

/** Fills in what a profile leaves out, or says what it lacks. Not for `offline` and `script`. */
export function resolveProfile(
  config: ApiConfig,
  environment: Environment,
): ResolvedProfile | UnusableProfile {
  const provider = config.provider ?? "anthropic";
  const facts = providerFacts(provider, config.format);
  if (facts === undefined) return lacking(unknownProvider(config));
  const place = modelPlace(config, facts, (name) => variable(environment, name));
  if ("missing" in place) return lacking(`a profile of provider ${provider} needs the key ${place.missing}`);
  const { model, baseUrl, query } = place;
  if (!/^https?:\/\//.test(baseUrl))
    return lacking(`base_url ${baseUrl} does not start with http:// or https://`);
  const keyVariable = config.api_key_env ?? facts.keyVariable;
  const apiKey = variable(environment, keyVariable);
  if (apiKey === undefined && keyIsNeeded(config, facts, baseUrl)) {
    return { lacks: "credentials", message: `the environment variable ${keyVariable} is not set` };
  }
  return {
    provider,
    model,
    wire: wireOf(facts, baseUrl),
    baseUrl: baseUrl.replace(/\/+$/, ""),
    apiKey,
    keyHeader: facts.keyHeader,
    query,
    // The name of a deployment says nothing about its model; the key `model` may.
    contextWindowTokens: positive(config.context_window) ?? contextWindowOf(config.model ?? model),
    maxOutputTokens: positive(config.max_tokens) ?? DEFAULT_MAX_TOKENS,
    thinking: thinkingOf(config, facts),
    chunkTimeoutMs: (positive(config.timeout) ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
    maxRetries: config.max_retries ?? DEFAULT_RETRIES,
    httpHeaders: config.http_headers ?? {},
    extraBody: config.extra_body ?? {},
    reasoningEffort: config.reasoning_effort,
    passReasoningText: config["pass_reasoning_content"] === true,
  };
}

/** True for the answer of {@link resolveProfile} that says what is missing. */
export function isUnusable(profile: ResolvedProfile | UnusableProfile): profile is UnusableProfile {
  return "lacks" in profile;
}

function lacking(message: string): UnusableProfile {
  return { lacks: "configuration", message };
}

function unknownProvider({ provider = "anthropic", format }: ApiConfig): string {
  return provider === "router"
    ? `the format ${format} of a router profile is unknown; there are: anthropic, openai, codex, ollama, gemini`
    : `the provider ${provider} is not available; there are: anthropic, openai, codex, azure, gemini, ollama, router, offline`;
}

/** Servers that speak OpenAI's API are less exact than OpenAI; the adapter for them forgives more. */
function wireOf(facts: ProviderFacts, baseUrl: string): WireFormat {
  return facts.wire === "chat-openai" && baseUrl !== facts.baseUrl ? "chat" : facts.wire;
}

/** A server named by its address may need no key; a variable that is named must exist. */
function keyIsNeeded(config: ApiConfig, facts: ProviderFacts, baseUrl: string): boolean {
  if (config.api_key_env !== undefined) return true;
  // Azure has no address of its own, and never answers without a key.
  return facts.needsKey && (facts.baseUrl === undefined || baseUrl === facts.baseUrl);
}

function thinkingOf(config: ApiConfig, facts: ProviderFacts): { readonly budgetTokens: number } | undefined {
  if (!(config.thinking_enabled ?? facts.thinksByDefault) || !facts.canThink) return undefined;
  return { budgetTokens: positive(config.thinking_budget) ?? DEFAULT_THINKING_TOKENS };
}

function variable(environment: Environment, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : environment[name];
  return value === "" ? undefined : value;
}

function positive(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 ? value : undefined;
}
