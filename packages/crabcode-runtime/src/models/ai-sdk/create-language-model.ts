import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ResolvedProfile } from "../resolve-profile.ts";

/** Sent where a package insists on a key and the server needs none. */
const NO_KEY = "none";

/**
 * The provider package's model for a profile.
 *
 * Address and key are always given: left out, the packages would look into the process environment.
 */
export function createLanguageModel(
  profile: ResolvedProfile,
  fetch: typeof globalThis.fetch,
): LanguageModelV4 {
  const { model, baseUrl: baseURL, apiKey = NO_KEY, keyHeader } = profile;
  const ownKey = keyHeader === undefined ? {} : { [keyHeader]: apiKey };
  const common = { baseURL, headers: { ...profile.httpHeaders, ...ownKey }, fetch };
  switch (profile.wire) {
    case "messages":
      return createAnthropic({ ...common, apiKey })(model);
    case "chat-openai":
      return createOpenAI({ ...common, apiKey }).chat(model);
    case "responses":
      return createOpenAI({ ...common, apiKey }).responses(model);
    case "chat":
      return createOpenAICompatible({
        ...common,
        name: profile.provider,
        includeUsage: true,
        queryParams: { ...profile.query },
        ...(profile.apiKey !== undefined && keyHeader === undefined && { apiKey: profile.apiKey }),
      }).chatModel(model);
  }
}
