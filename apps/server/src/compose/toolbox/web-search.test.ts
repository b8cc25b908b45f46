import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { createCommandRunner, type ProgramRunner } from "@trivium/grok-tools-runtime";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../config/read-config.ts";
import { createWebSearch } from "./web-search.ts";

const request = { query: "x", limit: 2, signal: new AbortController().signal };
const noPrograms: ProgramRunner = { run: () => Promise.reject(new Error("no program runs here")) };

const configured = (settings?: object, more: Readonly<Record<string, object>> = {}) =>
  readConfig({
    flags: Object.entries({ ...(settings && { "tools.webSearch": settings }), ...more }).map(
      ([name, value]) => ({ name, text: JSON.stringify(value), flag: "--set" }),
    ),
    env: {},
    folder: "/",
  }).values;

describe("createWebSearch", () => {
  it("has nobody to ask when no provider is configured", () => {
    expect(createWebSearch(configured(), { env: {}, dataDir: "/none" }, noPrograms)).toBeUndefined();
  });

  it("keeps to the number that is asked for and to the domains of the server", async () => {
    const page = (url: string) => ({ title: "", url, snippet: "" });
    const results = ["https://b.io/", "https://a.io/1", "https://a.io/2", "https://a.io/3"].map(page);
    const settings = { provider: "fixture", results, allowedDomains: ["a.io"] };
    const search = createWebSearch(configured(settings), { env: {}, dataDir: "/none" }, noPrograms);
    expect(await search?.search(request)).toEqual({
      kind: "ok",
      hits: [page("https://a.io/1"), page("https://a.io/2")],
    });
  });

  it("explains a provider that cannot be asked, and ends with the one who asks", async () => {
    const settings = { provider: "brave", baseUrl: "http://127.0.0.1:9", apiKeyEnv: "MY_KEY" };
    const search = createWebSearch(configured(settings), { env: {}, dataDir: "/none" }, noPrograms);
    expect(await search?.search(request)).toEqual({
      kind: "failure",
      code: "unavailable",
      message: "the server has no key: the variable MY_KEY is not set",
    });
    await using silent = await silentServer();
    const stop = new AbortController();
    const reason = new Error("stopped");
    const searxng = configured({ provider: "searxng", baseUrl: silent.origin });
    const waiting = createWebSearch(searxng, { env: {}, dataDir: "/none" }, noPrograms);
    const found = waiting?.search({ ...request, signal: stop.signal });
    await silent.asked;
    stop.abort(reason);
    await expect(found).rejects.toBe(reason);
    expect(await waiting?.search({ ...request, timeoutMs: 1 })).toMatchObject({
      kind: "failure",
      message: "no search results within 0.001 s",
    });
  });

  it("runs a command in a folder of its own, without the server's keys", async () => {
    await using stack = new AsyncDisposableStack();
    const folder = stack.use(await temporaryFolder());
    const processes = stack.use(await createCommandRunner({ dataFolder: join(folder.path, "processes") }));
    const answer = `read request; printf '[{"title":"%s","url":"https://a.io/","snippet":"%s"}]' "$PWD" "$OTHER $PICTURE_KEY"`;
    const values = configured(
      { provider: "command", argv: ["sh", "-c", answer] },
      {
        "tools.environment": { inherit: "all", ignoreDefaultExcludes: true },
        "tools.media.images": { baseUrl: "https://pictures.example", model: "m", apiKeyEnv: "PICTURE_KEY" },
      },
    );
    const env = { PATH: process.env["PATH"], PICTURE_KEY: "s3cret", OTHER: "seen" };
    const search = createWebSearch(values, { env, dataDir: folder.path }, processes.programs);
    expect(await search?.search({ ...request, timeoutMs: 60_000 })).toMatchObject({
      hits: [{ title: expect.stringMatching(/\/crabcode-search$/), snippet: "seen " }],
    });
  });
});

/** Takes requests and never answers. */
async function silentServer(): Promise<AsyncDisposable & { origin: string; asked: Promise<void> }> {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const server = createServer(() => resolve());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    origin: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
