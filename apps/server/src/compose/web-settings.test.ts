import { describe, expect, it } from "vitest";
import { readConfig } from "../config/read-config.ts";
import { toWebSettings, webKeyVariables } from "./web-settings.ts";

const set = (entries: Record<string, string>) =>
  readConfig({
    flags: Object.entries(entries).map(([name, text]) => ({ name, text, flag: "--set" })),
    env: {},
    folder: "/",
  }).values;

describe("toWebSettings", () => {
  it("configures nothing but fetching by itself", () => {
    const settings = toWebSettings(set({}));
    expect(settings.webFetch.enabled).toBe(true);
    expect(settings.webSearch).toBeUndefined();
    expect(settings.media).toEqual({ images: undefined, videos: undefined });
  });

  it("hands on what is configured", () => {
    const settings = toWebSettings(
      set({
        "tools.webFetch.allowedDomains": "a.example,b.example",
        "tools.media.images": '{"baseUrl":"http://127.0.0.1/v1","model":"m"}',
      }),
    );
    expect(settings.webFetch.allowedDomains).toEqual(["a.example", "b.example"]);
    expect(settings.media.images).toEqual({ baseUrl: "http://127.0.0.1/v1", model: "m" });
  });
});

describe("webKeyVariables", () => {
  it("names every variable with a key", () => {
    const values = set({
      "tools.webSearch": '{"provider":"brave","apiKeyEnv":"MY_SEARCH"}',
      "tools.media.images": '{"baseUrl":"http://127.0.0.1/v1","model":"m","apiKeyEnv":"MY_IMAGES"}',
      "tools.media.videos": '{"baseUrl":"http://127.0.0.1/v1","model":"m","apiKeyEnv":"MY_FILMS"}',
    });
    expect(webKeyVariables(values)).toEqual(["MY_SEARCH", "MY_IMAGES", "MY_FILMS"]);
    expect(webKeyVariables(set({ "tools.webSearch": '{"provider":"command","argv":["x"]}' }))).toEqual([]);
  });
});
