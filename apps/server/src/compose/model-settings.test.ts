import { describe, expect, it } from "vitest";
import { keyVariables, toModelSettings, toSettingsKeys } from "./model-settings.ts";

const values = {
  models: { local: { provider: "ollama", baseUrl: "http://127.0.0.1:1/v1", apiKeyEnv: "K" } },
  defaultModel: "local",
};

describe("model settings", () => {
  it("have snake_case keys for sessions", () => {
    expect(toSettingsKeys(values)).toEqual({
      models: { local: { provider: "ollama", base_url: "http://127.0.0.1:1/v1", api_key_env: "K" } },
      default_model: "local",
    });
  });

  it("tell which variables hold keys", () => {
    expect(keyVariables(values)).toEqual(["K"]);
  });

  it("leave out a default that nobody chose", () => {
    expect(toModelSettings({ models: {}, defaultModel: undefined })).toEqual({ api: {}, models: {} });
  });
});
