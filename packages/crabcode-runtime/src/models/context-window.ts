/** Windows of known models, in tokens. A key stands for itself and for every longer name at a `-`, `.` or `:`. */
const knownWindows: Readonly<Record<string, number>> = {
  claude: 200_000,
  "gpt-4o": 128_000,
  "gpt-4-turbo": 128_000,
  "gpt-4": 8_192,
  "gpt-4.1": 1_047_576,
  "gpt-5": 400_000,
  o3: 200_000,
  "o4-mini": 200_000,
  "codex-mini": 200_000,
  deepseek: 128_000,
  "glm-5.1": 202_752,
  "gemini-1.5-pro": 2_097_152,
  gemini: 1_048_576,
  qwen3: 40_960,
  "llama3.1": 131_072,
  "llama3.2": 131_072,
  "llama3.3": 131_072,
  mistral: 32_768,
};

/** For a model nobody knows. */
const DEFAULT_CONTEXT_WINDOW_TOKENS = 200_000;

/**
 * Context window of a model in tokens: the longest known name that is the whole id or ends at a boundary in it.
 * A path in front of the id (`openai/gpt-4o`) is ignored.
 */
export function contextWindowOf(model: string): number {
  const id = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  let best: { length: number; tokens: number } | undefined;
  for (const [name, tokens] of Object.entries(knownWindows)) {
    if (!id.startsWith(name) || name.length <= (best?.length ?? 0)) continue;
    const next = id.charAt(name.length);
    if (next === "" || "-.:".includes(next)) best = { length: name.length, tokens };
  }
  return best?.tokens ?? DEFAULT_CONTEXT_WINDOW_TOKENS;
}
