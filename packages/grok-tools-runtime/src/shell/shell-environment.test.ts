import { expect, it } from "vitest";
import { defaultToolSettings } from "../tool-settings.ts";
import { buildShellEnvironment } from "./shell-environment.ts";

const policy = defaultToolSettings.environment;
const lax = { ...policy, inherit: "all" as const, ignoreDefaultExcludes: true };

it("lets no caller pass on names that look like secrets when the server does not", () => {
  const server = { A_TOKEN: "secret", PLAIN: "1" };
  const overrides = { inherit: "all" as const, ignore_default_excludes: true };
  const environment = buildShellEnvironment({ server, policy, overrides });
  expect(environment).toMatchObject({ PLAIN: "1" });
  expect(environment).not.toHaveProperty("A_TOKEN");
});

it("lets a caller be stricter than the server", () => {
  const server = { GITHUB_TOKEN: "secret" };
  expect(buildShellEnvironment({ server, policy: lax })).toMatchObject(server);
  const overrides = { ignore_default_excludes: false };
  expect(buildShellEnvironment({ server, policy: lax, overrides })).not.toHaveProperty("GITHUB_TOKEN");
});

it.each([
  "AZURE_OPENAI_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_ACCESS_KEY_ID",
  "AWS_BEARER_TOKEN_BEDROCK",
  "HF_TOKEN",
  "HUGGING_FACE_HUB_TOKEN",
  "OPENAI_API_KEY",
  "OPENAI_KEY",
  "MY_OPENAI_KEY",
  "anthropic_auth_token",
  "XAI_API_KEY",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "SOME_APIKEY",
  "TRIVIUM_TOKEN",
])("never passes %s on, from wherever it comes", (name) => {
  const variables = { [name]: "secret" };
  const set = { ...lax, set: variables };
  const environment = buildShellEnvironment({ server: variables, policy: set, extra: variables });
  expect(environment).not.toHaveProperty(name);
});

it("never passes on what it is told is secret", () => {
  const variables = { ACME_MODELS: "secret", ACME: "plain" };
  const environment = buildShellEnvironment({
    server: variables,
    policy: { ...lax, set: variables },
    extra: variables,
    secretVariables: ["acme_models"],
  });
  expect(environment).not.toHaveProperty("ACME_MODELS");
  expect(environment).toMatchObject({ ACME: "plain" });
});
