/** The API a provider speaks. `chat-openai` is Chat Completions as OpenAI itself serves it. */
export type WireFormat = "messages" | "chat" | "chat-openai" | "responses";

/** What is known of a provider without its profile. */
export interface ProviderFacts {
  readonly wire: WireFormat;
  /** Absent: the profile must name it. */
  readonly baseUrl?: string;
  readonly baseUrlVariable?: string;
  readonly keyVariable?: string;
  /** Header that carries the key. Absent: the one of the API. */
  readonly keyHeader?: string;
  /** False: works without a key, the variable is used when it is set. */
  readonly needsKey: boolean;
  readonly defaultModel?: string;
  /** Whether reasoning can be asked for at all. */
  readonly canThink: boolean;
  readonly thinksByDefault: boolean;
}

const openaiUrl = { baseUrl: "https://api.openai.com/v1", baseUrlVariable: "OPENAI_BASE_URL" };

const knownProviders: Readonly<Record<string, ProviderFacts>> = {
  anthropic: {
    wire: "messages",
    baseUrl: "https://api.anthropic.com/v1",
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    keyVariable: "ANTHROPIC_API_KEY",
    needsKey: true,
    canThink: true,
    thinksByDefault: true,
  },
  openai: {
    wire: "chat-openai",
    ...openaiUrl,
    keyVariable: "OPENAI_API_KEY",
    needsKey: true,
    defaultModel: "gpt-4o",
    canThink: false,
    thinksByDefault: false,
  },
  codex: {
    wire: "responses",
    ...openaiUrl,
    keyVariable: "OPENAI_API_KEY",
    needsKey: true,
    defaultModel: "codex-mini-latest",
    canThink: true,
    thinksByDefault: true,
  },
  azure: {
    wire: "chat",
    keyVariable: "AZURE_OPENAI_API_KEY",
    keyHeader: "api-key",
    needsKey: true,
    canThink: false,
    thinksByDefault: false,
  },
  gemini: {
    wire: "chat",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    keyVariable: "GEMINI_API_KEY",
    needsKey: true,
    canThink: false,
    thinksByDefault: false,
  },
  ollama: {
    wire: "chat",
    baseUrl: "http://localhost:11434/v1",
    keyVariable: "OLLAMA_API_KEY",
    needsKey: false,
    canThink: false,
    thinksByDefault: false,
  },
};

/** Facts of a provider; undefined when there is none of that name. `format` counts for `router` only. */
export function providerFacts(provider: string, format: string | undefined): ProviderFacts | undefined {
  if (provider !== "router") return ownValue(knownProviders, provider);
  const model = ownValue(knownProviders, format ?? "openai");
  if (model === undefined) return undefined;
  // A router has an address of its own, and a key only if its profile names one.
  const { wire, canThink, thinksByDefault } = model;
  return { wire: wire === "chat-openai" ? "chat" : wire, needsKey: false, canThink, thinksByDefault };
}

function ownValue<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
