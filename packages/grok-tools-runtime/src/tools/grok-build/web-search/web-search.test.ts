import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ManualClock, temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import { createCommandRunner } from "../../../process/create-command-runner.ts";
import type { ProgramRunner, ProgramSpec } from "../../../process/program-runner.ts";
import { toolContext } from "../../../testing/tool-context.ts";
import { until } from "../../../testing/until.ts";
import type { ToolContext } from "../../../tool.ts";
import { defaultToolSettings, type WebSearchSettings } from "../../../tool-settings.ts";
import { jsonBody, localSite } from "../../../web/testing/local-site.ts";
import { webSearch } from "./web-search.ts";

const hits = [
  { title: "One", url: "https://docs.a.io/1", snippet: "first\n one" },
  { title: "Two", url: "https://b.io/2", snippet: "" },
];

function contextWith(
  settings: WebSearchSettings,
  overrides: Partial<ToolContext<unknown>> = {},
): ToolContext<unknown> {
  return toolContext({ settings: { ...defaultToolSettings, webSearch: settings }, ...overrides });
}

const fixture: WebSearchSettings = { provider: "fixture", results: hits };

describe("GrokBuild:web_search", () => {
  it("gives a numbered list with its citations", async () => {
    const result = await webSearch.run({ query: "x" }, contextWith(fixture));
    expect(result.output).toEqual({
      type: "WebSearch",
      query: "x",
      content: "1. One\n   https://docs.a.io/1\n   first one\n\n2. Two\n   https://b.io/2",
      citations: ["https://docs.a.io/1", "https://b.io/2"],
      allowed_domains: null,
    });
    expect(result.promptText).toContain("x");
  });

  it.each([
    ["the caller's domains", { allowed_domains: "a.io" }, {}, ["https://docs.a.io/1"]],
    [
      "the server's domains over those",
      { allowed_domains: ["a.io"] },
      { allowedDomains: ["b.io"] },
      ["https://b.io/2"],
    ],
    ["the server's exclusions", {}, { excludedDomains: ["b.io"] }, ["https://docs.a.io/1"]],
    [
      "allowed over excluded ones",
      {},
      { allowedDomains: ["b.io"], excludedDomains: ["b.io"] },
      ["https://b.io/2"],
    ],
  ])("filters by %s", async (...[, input, domains, citations]) => {
    const result = await webSearch.run({ query: "x", ...input }, contextWith({ ...fixture, ...domains }));
    expect(result.output["citations"]).toEqual(citations);
  });

  it("says that nothing was found", async () => {
    const result = await webSearch.run({ query: "x" }, contextWith({ provider: "fixture", results: [] }));
    expect(result.output).toMatchObject({ content: "No results were found.", citations: [] });
  });

  it("shows twenty results and 40,000 bytes at most", async () => {
    const many = Array.from({ length: 30 }, (_, index) => ({
      title: "é".repeat(2000),
      url: `https://a.io/${index}`,
      snippet: "",
    }));
    const result = await webSearch.run({ query: "x" }, contextWith({ provider: "fixture", results: many }));
    expect(result.output["citations"]).toHaveLength(20);
    expect(Buffer.byteLength(result.output["content"] as string)).toBeLessThanOrEqual(40_000);
    expect(result.output["content"]).not.toContain("\ufffd");
  });

  it.each([[" "], ["x".repeat(2001)]])("refuses a query that is empty or too long", async (query) => {
    await expect(webSearch.run({ query }, contextWith(fixture))).rejects.toMatchObject({
      code: ErrorCode.INVALID_INPUT,
    });
  });

  it("asks SearXNG for JSON", async () => {
    await using site = await localSite((_request, response) => {
      response.end(
        JSON.stringify({
          results: [{ title: "T", url: "https://a.io/", content: "c" }, { title: "no url" }],
        }),
      );
    });
    const context = contextWith({ provider: "searxng", baseUrl: `${site.origin}/s` });
    const result = await webSearch.run({ query: "a b", allowed_domains: ["a.io"] }, context);
    expect(result.output["citations"]).toEqual(["https://a.io/"]);
    expect(site.requests).toEqual(["GET /s/search?q=a+b+site%3Aa.io&format=json"]);
  });

  it("sends Brave its key in a header", async () => {
    let header: unknown;
    await using site = await localSite((request, response) => {
      header = request.headers["x-subscription-token"];
      response.end(
        JSON.stringify({ web: { results: [{ title: "T", url: "https://a.io/", description: "d" }] } }),
      );
    });
    const context = contextWith(
      { provider: "brave", baseUrl: site.origin, apiKeyEnv: "BRAVE" },
      { environment: { BRAVE: "k3y" } },
    );
    expect((await webSearch.run({ query: "x" }, context)).output["content"]).toContain("d");
    expect(header).toBe("k3y");
  });

  it("gives the text and the citations of a model that searches", async () => {
    let body: unknown;
    await using site = await localSite(async (request, response) => {
      body = await jsonBody(request);
      const annotations = [{ type: "url_citation", url: "https://a.io/", title: "T" }];
      response.end(
        JSON.stringify({ output: [{ content: [{ type: "output_text", text: "An answer.", annotations }] }] }),
      );
    });
    const context = contextWith({ provider: "responses", baseUrl: `${site.origin}/v1`, model: "m" });
    const result = await webSearch.run({ query: "x", allowed_domains: ["a.io"] }, context);
    expect(result.output).toMatchObject({ content: "An answer.", citations: ["https://a.io/"] });
    expect(body).toMatchObject({
      model: "m",
      store: false,
      tools: [{ type: "web_search", filters: { allowed_domains: ["a.io"] } }],
    });
    expect(site.requests).toEqual(["POST /v1/responses"]);
  });

  it.each([
    [401, ErrorCode.PERMISSION_DENIED, false],
    [403, ErrorCode.PERMISSION_DENIED, false],
    [400, ErrorCode.EXECUTION_FAILED, false],
  ])("says at once what HTTP status %i means, and never the key", async (status, code, retryable) => {
    await using site = await localSite((_request, response) => {
      response.writeHead(status).end(JSON.stringify({ error: { message: "bad key s3cret" } }));
    });
    const context = contextWith(
      { provider: "searxng", baseUrl: site.origin, apiKeyEnv: "K" },
      { environment: { K: "s3cret" } },
    );
    const failure: unknown = await webSearch.run({ query: "x" }, context).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code, retryable, message: expect.stringContaining("***REDACTED***") });
    expect(String(failure)).not.toContain("s3cret");
    expect(site.requests).toHaveLength(1);
  });

  it("does not tell the beginning of a key that stands where a long message is cut", async () => {
    await using site = await localSite((_request, response) => {
      response.writeHead(400).end(JSON.stringify({ error: `${"x".repeat(295)} s3cret-key` }));
    });
    const context = contextWith(
      { provider: "searxng", baseUrl: site.origin, apiKeyEnv: "K" },
      { environment: { K: "s3cret-key" } },
    );
    const failure: unknown = await webSearch.run({ query: "x" }, context).catch((thrown: unknown) => thrown);
    expect(String(failure)).toContain("xxx");
    expect(String(failure)).not.toContain("s3");
  });

  it("reads the key from its file, and says what is wrong with the file but not where it is", async () => {
    await using folder = await temporaryFolder();
    const apiKeyFile = join(folder.path, "brave.key");
    let header: unknown;
    await using site = await localSite((request, response) => {
      header = request.headers["x-subscription-token"];
      response.end(JSON.stringify({ web: { results: [] } }));
    });
    const search = (): Promise<unknown> =>
      webSearch
        .run({ query: "x" }, contextWith({ provider: "brave", baseUrl: site.origin, apiKeyFile }))
        .catch((thrown: unknown) => thrown);
    expect(await search()).toMatchObject({
      kind: "unauthenticated",
      message: expect.stringContaining("read"),
    });
    await writeFile(apiKeyFile, " \n");
    const empty = await search();
    expect(empty).toMatchObject({ kind: "unauthenticated", message: expect.stringContaining("empty") });
    expect(String(empty)).not.toContain(folder.path);
    expect(site.requests).toEqual([]);
    await writeFile(apiKeyFile, "k3y\n");
    await search();
    expect(header).toBe("k3y");
  });

  it.each([
    [
      "reads its question",
      'read line; echo "[{\\"url\\":\\"https://a.io/\\",\\"title\\":\\"${#line}\\"}]"',
      ["https://a.io/"],
    ],
    ["reads nothing", 'echo \'{"results":[{"url":"https://a.io/"}]}\'', ["https://a.io/"]],
    ["complains a lot", "head -c 1000000 /dev/zero >&2; echo '[]'", []],
  ])("takes the results of a program that %s", async (_what, script, citations) => {
    await using folder = await temporaryFolder();
    await using runner = await createCommandRunner({ dataFolder: folder.path });
    const settings: WebSearchSettings = { provider: "command", argv: ["sh", "-c", script] };
    const context = contextWith(settings, {
      programRunner: runner.programs,
      sessionFolder: folder.path,
      environment: { PATH: process.env["PATH"] },
    });
    const result = await webSearch.run({ query: "x" }, context);
    expect(result.output["citations"]).toEqual(citations);
  });

  it.each([
    ["fails", "exit 3", "exit code 3"],
    ["writes something else", "echo hello", "not JSON"],
    ["writes without end", "yes", "more than"],
  ])("says so when a program %s", async (_what, script, message) => {
    await using folder = await temporaryFolder();
    await using runner = await createCommandRunner({ dataFolder: folder.path });
    const settings: WebSearchSettings = { provider: "command", argv: ["sh", "-c", script] };
    const context = contextWith(settings, {
      programRunner: runner.programs,
      sessionFolder: folder.path,
      environment: { PATH: process.env["PATH"] },
    });
    await expect(webSearch.run({ query: "x" }, context)).rejects.toMatchObject({
      code: ErrorCode.EXECUTION_FAILED,
      retryable: true,
      message: expect.stringContaining(message),
    });
  });

  it("ends a program that does not answer", async () => {
    await using folder = await temporaryFolder();
    await using runner = await createCommandRunner({ dataFolder: folder.path });
    const controller = new AbortController();
    const started = join(folder.path, "started");
    const settings: WebSearchSettings = {
      provider: "command",
      argv: ["sh", "-c", `echo $$ > ${started}; exec sleep 60`],
    };
    const context = contextWith(settings, {
      programRunner: runner.programs,
      sessionFolder: folder.path,
      environment: { PATH: process.env["PATH"] },
      signal: controller.signal,
    });
    const running = webSearch.run({ query: "x" }, context);
    const pidText = (): string => (existsSync(started) ? readFileSync(started, "utf8") : "");
    await until(() => pidText().endsWith("\n"));
    controller.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    await until(() => !existsSync(`/proc/${pidText().trim()}`));
  });

  it.each([
    [429, ErrorCode.RATE_LIMITED],
    [503, ErrorCode.EXECUTION_FAILED],
  ])("tries once more after HTTP status %i", async (status, code) => {
    await using site = await localSite((_request, response) => response.writeHead(status).end());
    const clock = new ManualClock();
    const settled = webSearch
      .run({ query: "x" }, contextWith({ provider: "searxng", baseUrl: site.origin }, { clock }))
      .catch((thrown: unknown) => thrown);
    await until(() => {
      void clock.advance(10);
      return site.requests.length === 2;
    });
    expect(await settled).toMatchObject({ code, retryable: true });
  });

  it("ends after 30 seconds, and at once when it is cancelled", async () => {
    await using site = await localSite(() => {});
    const clock = new ManualClock();
    const controller = new AbortController();
    const settings: WebSearchSettings = { provider: "searxng", baseUrl: site.origin };
    const late = webSearch.run({ query: "x" }, contextWith(settings, { clock }));
    const cancelled = webSearch.run({ query: "x" }, contextWith(settings, { signal: controller.signal }));
    await until(() => site.requests.length === 2);
    controller.abort(new Error("enough"));
    await expect(cancelled).rejects.toThrow("enough");
    const refused = expect(late).rejects.toMatchObject({ code: ErrorCode.TIMEOUT });
    await clock.advance(30_000);
    await refused;
    await until(() => site.openSockets.size === 0);
  });

  it("says which variable lacks the key", async () => {
    const context = contextWith({ provider: "brave", apiKeyEnv: "BRAVE" });
    await expect(webSearch.run({ query: "x" }, context)).rejects.toMatchObject({
      kind: "unauthenticated",
      message: expect.stringContaining("BRAVE"),
    });
  });

  it("runs a command without the keys of providers", async () => {
    await using folder = await temporaryFolder();
    const specs: ProgramSpec[] = [];
    const written: string[] = [];
    const programRunner: ProgramRunner = {
      run(spec) {
        specs.push(spec);
        const ended = Promise.resolve({
          reason: "exited" as const,
          exitCode: 0,
          signal: null,
          stderr: new Uint8Array(),
          durationMs: 1,
        });
        return Promise.resolve({
          input: {
            write: (bytes) => Promise.resolve(void written.push(new TextDecoder().decode(bytes))),
            end: () => {},
          },
          stdout: (async function* () {
            yield await Promise.resolve(Buffer.from(JSON.stringify(hits)));
          })(),
          ended,
          stop: () => ended,
        });
      },
    };
    const context = contextWith(
      { provider: "command", argv: ["find-it", "-q"] },
      {
        programRunner,
        sessionFolder: folder.path,
        environment: { PATH: "/bin", HOME: "/h", MY_SEARCH: "s3cret" },
        secretVariables: ["MY_SEARCH"],
        settings: {
          ...defaultToolSettings,
          environment: { ...defaultToolSettings.environment, inherit: "all" },
          webSearch: { provider: "command", argv: ["find-it", "-q"] },
        },
      },
    );
    const result = await webSearch.run({ query: "x" }, context);
    expect(result.output["citations"]).toHaveLength(2);
    expect(JSON.parse(written.join(""))).toEqual({ query: "x", allow: [], exclude: [], limit: 20 });
    expect(specs[0]?.argv).toEqual(["find-it", "-q"]);
    expect(specs[0]?.env).toHaveProperty("HOME");
    expect(specs[0]?.env).not.toHaveProperty("MY_SEARCH");
  });
});
