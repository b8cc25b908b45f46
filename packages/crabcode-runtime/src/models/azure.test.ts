import { systemClock } from "@trivium/core";
import { describe, expect, it } from "vitest";
import type { ModelChunk } from "../ports/model-port.ts";
import type { ApiConfig } from "../settings/model-settings.ts";
import { createAiSdkModel } from "./ai-sdk/ai-sdk-model.ts";
import { type Environment, isUnusable, resolveProfile } from "./resolve-profile.ts";
import { startFakeProvider } from "./testing/fake-provider.ts";

const KEY = "azure-secret";

describe("a profile of provider azure", () => {
  it.each([
    {
      how: "the keys of the profile",
      config: { azure_deployment: "my dep", azure_api_version: "2025-01-01" },
      variables: {},
      path: "/openai/deployments/my%20dep/chat/completions?api-version=2025-01-01",
    },
    {
      how: "the variables of Azure's tools",
      config: {},
      variables: { AZURE_OPENAI_DEPLOYMENT: "dep" },
      path: "/openai/deployments/dep/chat/completions?api-version=2024-10-21",
    },
    {
      how: "the model as the name of the deployment",
      config: { model: "gpt-4o" },
      variables: { AZURE_OPENAI_API_VERSION: "2024-12-01" },
      path: "/openai/deployments/gpt-4o/chat/completions?api-version=2024-12-01",
    },
  ])("asks the deployment that $how name, with the key in its own header", async (row) => {
    await using provider = await startFakeProvider([
      { text: ["hello"], usage: { inputTokens: 3, outputTokens: 2 } },
    ]);
    const endpoint = new URL(provider.baseUrl).origin;
    const chunks = await ask({ ...row.config, azure_endpoint: endpoint }, row.variables);
    expect(chunks).toContainEqual({ type: "text", text: "hello" });
    expect(chunks.find(({ type }) => type === "usage")).toMatchObject({ usage: { inputTokens: 3 } });
    const [request] = provider.requests;
    expect(request?.path).toBe(row.path);
    expect(request?.headers["api-key"]).toBe(KEY);
    expect(request?.headers["authorization"]).toBeUndefined();
  });

  it("leaves an address alone that names the deployment already", async () => {
    await using provider = await startFakeProvider([{ text: ["hello"] }]);
    const { origin } = new URL(provider.baseUrl);
    await ask({ base_url: `${origin}/openai/deployments/other/`, azure_deployment: "dep" }, {});
    expect(provider.requests[0]?.path).toBe(
      "/openai/deployments/other/chat/completions?api-version=2024-10-21",
    );
  });

  it.each([
    [{ azure_endpoint: "http://127.0.0.1:1" }, { AZURE_OPENAI_API_KEY: KEY }, "azure_deployment"],
    [{ azure_deployment: "dep" }, { AZURE_OPENAI_API_KEY: KEY }, "azure_endpoint"],
    [{ azure_deployment: "dep", azure_endpoint: "http://127.0.0.1:1" }, {}, "AZURE_OPENAI_API_KEY"],
  ])("says what %j with %j lacks: %s", (config, variables, missing) => {
    expect(resolveProfile({ provider: "azure", ...config }, variables)).toMatchObject({
      message: expect.stringContaining(missing),
    });
  });
});

async function ask(config: ApiConfig, variables: Environment): Promise<ModelChunk[]> {
  const profile = resolveProfile(
    { provider: "azure", ...config },
    { AZURE_OPENAI_API_KEY: KEY, ...variables },
  );
  if (isUnusable(profile)) throw new Error(profile.message);
  const model = createAiSdkModel(profile, { clock: systemClock, fetch: globalThis.fetch });
  const chunks: ModelChunk[] = [];
  const request = {
    loop: { sessionId: "s1", agentNumber: null, profile: "p" },
    system: [],
    messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }],
    tools: [],
    maxOutputTokens: model.maxOutputTokens,
    signal: new AbortController().signal,
  };
  for await (const chunk of model.stream(request)) chunks.push(chunk);
  return chunks;
}
