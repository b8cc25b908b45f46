import { describe, expect, it } from "vitest";
import { CrabcodeError } from "../crabcode-error.ts";
import type { ModelSettings } from "../settings/model-settings.ts";
import { createModelCatalogue } from "./model-catalogue.ts";

const smart = { provider: "anthropic", model: "claude-sonnet-4-6" };
const local = { provider: "ollama", model: "qwen3:32b" };

describe("createModelCatalogue", () => {
  it("lists profiles in configuration order, the base when it says anything, and offline last", () => {
    const settings = settingsOf({ models: { fast: local, x: {} }, api: { model: "m" } });
    expect(createModelCatalogue({ variables: {} }).list(settings)).toEqual([
      { name: "fast", description: "ollama/qwen3:32b" },
      { name: "x", description: "(no model set)" },
      { name: "default", description: "m" },
      { name: "offline", description: "offline/offline-rules" },
    ]);
  });

  it.each([
    ["nothing configured", {}, {}, "offline"],
    ["a default with its key", { defaultModel: "smart" }, { ANTHROPIC_API_KEY: "k" }, "smart"],
    ["a default without its key", { defaultModel: "smart" }, {}, "offline"],
    ["a default that needs no key", { defaultModel: "local" }, {}, "local"],
    ["an unknown default", { defaultModel: "nope" }, {}, "offline"],
    ["a default that is configured wrongly", { defaultModel: "broken" }, {}, "broken"],
    ["a base profile", { api: smart }, { ANTHROPIC_API_KEY: "k" }, "default"],
    ["no default, one usable profile", { models: { a: smart, b: local } }, {}, "b"],
    ["a usable profile and a key in the environment", { models: { b: local } }, { OPENAI_API_KEY: "k" }, "b"],
    ["only a key in the environment", { models: {} }, { OPENAI_API_KEY: "k" }, "default"],
    ["offline chosen", { defaultModel: "offline" }, { OPENAI_API_KEY: "k" }, "offline"],
  ])("with %s a session starts with %s", (...row) => {
    const [, settings, variables, expected] = row;
    const models = "defaultModel" in settings ? { smart, local, broken: { provider: "what" } } : {};
    const catalogue = createModelCatalogue({ variables });
    expect(catalogue.defaultProfile(settingsOf({ models, ...settings }))).toBe(expected);
  });

  it.each([
    ["nope", "MODEL_NOT_FOUND", "no model named nope; there are: smart, bare, odd, cloud, script, offline"],
    ["constructor", "MODEL_NOT_FOUND", "no model named constructor"],
    ["smart", "PROFILE_UNUSABLE", "ANTHROPIC_API_KEY"],
    ["bare", "PROFILE_UNUSABLE", "base_url"],
    ["odd", "PROFILE_UNUSABLE", "the provider what is not available"],
    ["cloud", "PROFILE_UNUSABLE", "MY_KEY"],
    ["script", "PROFILE_UNUSABLE", "crabcode.testing"],
  ])("refuses to open %s with %s and says what is missing", (name, reason, message) => {
    const settings = settingsOf({
      models: {
        smart,
        bare: { provider: "router", model: "m" },
        odd: { provider: "what" },
        cloud: { provider: "openai", base_url: "http://127.0.0.1:1", api_key_env: "MY_KEY" },
        script: { provider: "script", script_path: "/s.json" },
      },
    });
    const opening = (): unknown => createModelCatalogue({ variables: {} }).open(name, optionsOf(settings));
    expect(opening).toThrow(expect.objectContaining({ reason }));
    expect(opening).toThrow(message);
    expect(opening).toThrow(CrabcodeError);
  });

  it("opens a profile with its limits", () => {
    const settings = settingsOf({
      models: { a: { ...local, max_tokens: 99, max_retries: 1, context_window: 7 } },
    });
    expect(createModelCatalogue({ variables: {} }).open("a", optionsOf(settings))).toMatchObject({
      provider: "ollama",
      model: "qwen3:32b",
      maxOutputTokens: 99,
      maxRetries: 1,
      contextWindowTokens: 7,
      allowsBackgroundRequests: true,
    });
  });

  it.each([
    [{ defaultModel: "smart" }, {}, "ANTHROPIC_API_KEY is not set"],
    [{ defaultModel: "nope" }, {}, "there is no model named nope"],
    [{}, { ANTHROPIC_API_KEY: "k" }, "no profile names a model"],
  ])("with %j and %j the offline model says why it answers", async (parts, variables, reason) => {
    const settings = settingsOf({ models: "defaultModel" in parts ? { smart } : {}, ...parts });
    const model = createModelCatalogue({ variables }).open("offline", optionsOf(settings));
    const request = {
      loop: { sessionId: "s1", agentNumber: null, profile: "offline" },
      system: [],
      messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "hello" }] }],
      tools: [],
      maxOutputTokens: 1,
      signal: new AbortController().signal,
    };
    let said = "";
    for await (const chunk of model.stream(request)) if (chunk.type === "text") said += chunk.text;
    expect(said).toContain(reason);
  });

  it("tells what each profile lacks", () => {
    const check = createModelCatalogue({ variables: {} }).check(settingsOf({ models: { smart, local } }));
    expect(check).toEqual([
      {
        name: "smart",
        description: "anthropic/claude-sonnet-4-6",
        problem: "the environment variable ANTHROPIC_API_KEY is not set",
      },
      { name: "local", description: "ollama/qwen3:32b" },
      { name: "offline", description: "offline/offline-rules" },
    ]);
  });
});

function settingsOf(parts: Partial<ModelSettings>): ModelSettings {
  return { api: {}, models: {}, ...parts };
}

function optionsOf(settings: ModelSettings): Parameters<ReturnType<typeof createModelCatalogue>["open"]>[1] {
  return { settings, sessionId: "s1", state: { read: () => undefined, write: () => {} } };
}
