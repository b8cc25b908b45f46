import { describe, expect, it } from "vitest";
import { defaultToolSettings } from "../tool-settings.ts";
import { serverEnvironment } from "./server-environment.ts";

describe("serverEnvironment", () => {
  it("has what is configured for the server, and never a key of the tools' own providers", () => {
    const scope = {
      environment: { PATH: "/bin", MY_SEARCH: "s3cret", OTHER: "x" },
      settings: {
        ...defaultToolSettings,
        environment: { ...defaultToolSettings.environment, inherit: "all" as const },
      },
      secretVariables: ["MY_SEARCH"],
    };
    const variables = serverEnvironment(scope, { OWN: "1", PATH: "/own/bin" });
    expect(variables).toMatchObject({ OWN: "1", PATH: "/own/bin", OTHER: "x" });
    expect(variables).not.toHaveProperty("MY_SEARCH");
  });
});
