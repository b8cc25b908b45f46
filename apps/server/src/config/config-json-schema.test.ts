import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { configJsonSchema } from "./config-json-schema.ts";

describe("trivium.schema.json", () => {
  it("is what the settings say", () => {
    const published: unknown = JSON.parse(
      readFileSync(new URL("../../trivium.schema.json", import.meta.url), "utf8"),
    );
    expect(published).toEqual(JSON.parse(JSON.stringify(configJsonSchema())));
  });
});
