import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { ManualClock, temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../json.ts";
import { testRuntime } from "../../../testing/test-runtime.ts";
import { toolContext } from "../../../testing/tool-context.ts";
import { until } from "../../../testing/until.ts";
import type { ToolContext, ToolResult } from "../../../tool.ts";
import { defaultToolSettings } from "../../../tool-settings.ts";
import { localSite } from "../../../web/testing/local-site.ts";
import { webFetchParams } from "../../../web/web-fetch-params.ts";
import { createWebFetch } from "./web-fetch.ts";

const never = (): Promise<never> => Promise.reject(new Error("nothing may be looked up"));
const local = createWebFetch({ resolve: () => Promise.resolve(["127.0.0.1"]) });

function contextWith(
  params: JsonObject = {},
  overrides: Partial<ToolContext<unknown>> = {},
): ToolContext<unknown> {
  return toolContext({ params: webFetchParams.schema.parse({ allow_local: true, ...params }), ...overrides });
}

const content = ({ output }: ToolResult): Record<string, unknown> =>
  output["Content"] as Record<string, unknown>;

describe("GrokBuild:web_fetch", () => {
  it("gives a page as Markdown, without its navigation", async () => {
    await using site = await localSite((_request, response) => {
      response.setHeader("content-type", "text/html; charset=iso-8859-1");
      response.end(Buffer.from("<nav>menu</nav><h1>Caf\xe9</h1><a href=/x>more</a>", "latin1"));
    });
    const result = await local.run({ url: `${site.origin}/page` }, contextWith());
    expect(result.promptText).toBe(`# Café\n\n[more](${site.origin}/x)`);
    expect(content(result)).toEqual({
      url: `${site.origin}/page`,
      content: result.promptText,
      content_type: "markdown",
      status_code: 200,
      bytes: Buffer.byteLength(result.promptText),
    });
    await until(() => site.openSockets.size === 0);
  });

  it("says the status of a page that is an error", async () => {
    await using site = await localSite((_request, response) => {
      response.writeHead(404, { "content-type": "text/plain" }).end("no such page");
    });
    const result = await local.run({ url: site.origin }, contextWith());
    expect(result.promptText).toMatch(/404[^]*no such page/);
    expect(content(result)).toMatchObject({ status_code: 404, content: "no such page" });
    expect(result.failure).toBeUndefined();
  });

  it("serves a page again from memory until it is too old", async () => {
    await using site = await localSite((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).end("hello");
    });
    const clock = new ManualClock();
    const context = contextWith({ cache_ttl_secs: 10 }, { clock });
    const first = await local.run({ url: site.origin }, context);
    expect(await local.run({ url: `${site.origin}/#part` }, context)).toEqual(first);
    expect(site.requests).toHaveLength(1);
    await clock.advance(10_000);
    await local.run({ url: site.origin }, context);
    expect(site.requests).toHaveLength(2);
  });

  it("keeps a long page in a file, byte for byte, and shows its beginning", async () => {
    await using folder = await temporaryFolder();
    const text = `é${"x".repeat(200_000)}`;
    await using site = await localSite((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(text);
    });
    const context = contextWith(
      { max_markdown_length: 1000 },
      { sessionFolder: folder.path, toolName: (kind) => (kind === "read" ? "read_file" : undefined) },
    );
    const result = await local.run({ url: site.origin }, context);
    const path = `${folder.path}/web_fetch/1.json`;
    expect(await readFile(path, "utf8")).toBe(text);
    expect(result.promptText).toContain(
      `[truncated: 3841 of 200002 bytes shown. The whole text is in ${path}; use read_file`,
    );
    expect(result.truncated).toBe(true);
    expect(Buffer.byteLength(String(content(result)["content"]))).toBe(1000);
    await local.run({ url: site.origin }, context);
    expect(site.requests).toHaveLength(2);
  });

  it("follows redirects on the same host and stops at another", async () => {
    await using site = await localSite((request, response) => {
      if (request.url === "/end") response.writeHead(200, { "content-type": "text/plain" }).end("here");
      else if (request.url === "/away") response.writeHead(302, { location: "http://localhost:1/x" }).end();
      else response.writeHead(301, { location: "end" }).end();
    });
    expect(content(await local.run({ url: `${site.origin}/a` }, contextWith()))).toMatchObject({
      url: `${site.origin}/end`,
      content: "here",
    });
    const away = await local.run({ url: `${site.origin}/away` }, contextWith());
    expect(away.output).toEqual({
      type: "WebFetch",
      CrossHostRedirect: { original_host: "127.0.0.1", redirect_url: "http://localhost:1/x" },
    });
    expect(away.failure).toMatchObject({ code: ErrorCode.INVALID_INPUT });
    expect(site.requests).toEqual(["GET /a", "GET /end", "GET /away"]);
  });

  it("gives up after ten redirects", async () => {
    await using site = await localSite((_request, response) =>
      response.writeHead(302, { location: "/" }).end(),
    );
    const result = await local.run({ url: site.origin }, contextWith());
    expect(result.failure).toMatchObject({ code: ErrorCode.EXECUTION_FAILED });
    expect(site.requests).toHaveLength(11);
  });

  it.each([
    ["to a private address", "http://10.0.0.1/", ErrorCode.PERMISSION_DENIED],
    ["to the metadata service", "http://169.254.169.254/", ErrorCode.PERMISSION_DENIED],
    ["to another scheme", "file:///etc/passwd", ErrorCode.INVALID_INPUT],
    ["with a password", "http://a:b@127.0.0.1/", ErrorCode.INVALID_INPUT],
  ])("refuses a redirect %s", async (_what, location, code) => {
    await using site = await localSite((_request, response) => response.writeHead(302, { location }).end());
    await expect(local.run({ url: site.origin }, contextWith())).rejects.toMatchObject({ code });
  });

  it("checks the domains before anything is looked up", async () => {
    const tool = createWebFetch({ resolve: never });
    const result = await tool.run({ url: "https://unlisted.example/" }, contextWith());
    expect(result.output).toEqual({ type: "WebFetch", DomainNotAllowed: "unlisted.example" });
    expect(result.failure).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "domain" });
    const none = await tool.run({ url: "http://127.0.0.1:1/" }, contextWith({ allowed_domains: [] }));
    expect(none.output).toHaveProperty("DomainNotAllowed");
  });

  it.each([["10.0.0.1"], ["127.0.0.1"], ["169.254.169.254"], ["::1"], ["64:ff9b::a00:1"]])(
    "refuses a name that stands for %s, even among public addresses",
    async (address) => {
      const tool = createWebFetch({ resolve: () => Promise.resolve(["93.184.216.34", address]) });
      const context = contextWith({ allowed_domains: ["*"] });
      await expect(tool.run({ url: "https://rebind.example/" }, context)).rejects.toMatchObject({
        code: ErrorCode.PERMISSION_DENIED,
        details: { reason: "address" },
      });
    },
  );

  it("asks the proxy for the address it has checked, looked up once", async () => {
    const asked: string[] = [];
    const proxy = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (data) => {
        asked.push(String(data).split("\r\n")[0] ?? "");
        socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      });
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const address = proxy.address();
    const port = typeof address === "object" ? address?.port : 0;
    const answers = [["93.184.216.34"], ["10.0.0.1"]];
    const tool = createWebFetch({ resolve: () => Promise.resolve(answers.shift() ?? []) });
    const context = contextWith({
      allowed_domains: ["*"],
      proxy_endpoint: `http://user:s3cret@127.0.0.1:${port}`,
    });
    const result = await tool.run({ url: "http://rebind.example/" }, context);
    expect(asked).toEqual(["CONNECT 93.184.216.34:443 HTTP/1.1"]);
    expect(result.failure).toMatchObject({ code: ErrorCode.EXECUTION_FAILED, retryable: true });
    expect(JSON.stringify(result)).not.toContain("s3cret");
    proxy.close();
    await once(proxy, "close");
  });

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ])("inflates %s, and not a byte more than allowed", async (encoding, compress) => {
    const body = compress(Buffer.alloc(50_000_000, "a"));
    await using site = await localSite((request, response) => {
      response.writeHead(200, { "content-type": "text/plain", "content-encoding": encoding });
      response.end(request.url === "/small" ? compress(Buffer.from("hello")) : body);
    });
    expect(content(await local.run({ url: `${site.origin}/small` }, contextWith()))["content"]).toBe("hello");
    const result = await local.run(
      { url: `${site.origin}/bomb` },
      contextWith({ max_content_length: 100_000 }),
    );
    expect(result.failure).toMatchObject({ code: ErrorCode.EXECUTION_FAILED, retryable: false });
    expect(result.promptText).toContain("larger than 100000 bytes");
    await until(() => site.openSockets.size === 0);
  });

  it("stops reading an endless page at the limit", async () => {
    await using site = await localSite((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      const more = (): void => {
        while (response.writable && response.write(Buffer.alloc(65_536, "a")));
      };
      response.on("drain", more);
      more();
    });
    const result = await local.run({ url: site.origin }, contextWith({ max_content_length: 1_000_000 }));
    expect(result.promptText).toContain("larger than 1000000 bytes");
    await until(() => site.openSockets.size === 0);
  });

  it("takes a page of exactly the allowed size", async () => {
    await using site = await localSite((request, response) => {
      response
        .writeHead(200, { "content-type": "text/plain" })
        .end("a".repeat(request.url === "/fits" ? 1000 : 1001));
    });
    const context = contextWith({ max_content_length: 1000 });
    expect((await local.run({ url: `${site.origin}/fits` }, context)).failure).toBeUndefined();
    expect((await local.run({ url: `${site.origin}/over` }, context)).failure).toBeDefined();
  });

  it.each([
    ["application/pdf", "%PDF-1.7", "downloads/1.pdf"],
    ["image/png", "\x89PNG\r\n\x1a\n....", "images/1.png"],
    ["video/mp4", "\0\0\0\x18ftypisom", "videos/1.mp4"],
  ])("saves %s", async (type, head, name) => {
    await using folder = await temporaryFolder();
    const bytes = Buffer.from(head, "latin1");
    await using site = await localSite((_request, response) => {
      response.writeHead(200, { "content-type": type }).end(bytes);
    });
    const result = await local.run({ url: site.origin }, contextWith({}, { sessionFolder: folder.path }));
    expect(result.promptText).toContain(`${folder.path}/${name}`);
    expect(await readFile(`${folder.path}/${name}`)).toEqual(bytes);
  });

  it.each([
    ["a picture that is none", "image/png", "<html>"],
    ["a type that cannot be read", "application/zip", "PK"],
  ])("refuses %s", async (_what, type, body) => {
    await using site = await localSite((_request, response) => {
      response.writeHead(200, { "content-type": type }).end(body);
    });
    const result = await local.run({ url: site.origin }, contextWith());
    expect(result.output).toHaveProperty("Error.url");
    expect(result.failure).toMatchObject({ code: ErrorCode.EXECUTION_FAILED });
  });

  it("says when nobody answers, and that it may be tried again", async () => {
    const result = await local.run({ url: "http://127.0.0.1:1/" }, contextWith());
    expect(result.failure).toMatchObject({ code: ErrorCode.EXECUTION_FAILED, retryable: true });
    expect(result.promptText).toContain("ECONNREFUSED");
  });

  it.each(["headers", "body"])("ends with its time when the %s never come", async (part) => {
    await using site = await localSite((_request, response) => {
      if (part === "body") response.writeHead(200, { "content-type": "text/plain" }).write("a");
    });
    const clock = new ManualClock();
    const running = local.run({ url: site.origin }, contextWith({ timeout_secs: 5 }, { clock }));
    await until(() => site.requests.length === 1);
    await clock.advance(5_000);
    expect((await running).failure).toMatchObject({ code: ErrorCode.TIMEOUT, retryable: true });
    await until(() => site.openSockets.size === 0);
  });

  it("closes the connection of a redirect that it does not follow and that never ends", async () => {
    await using site = await localSite((_request, response) => {
      response.writeHead(302, { location: "https://elsewhere.example/" }).write("a");
    });
    const result = await local.run({ url: site.origin }, contextWith());
    expect(result.output).toHaveProperty("CrossHostRedirect");
    await until(() => site.openSockets.size === 0);
  });

  it("ends at once when it is cancelled, and closes its connection", async () => {
    await using site = await localSite(() => {});
    const controller = new AbortController();
    const running = local.run({ url: site.origin }, contextWith({}, { signal: controller.signal }));
    await until(() => site.requests.length === 1);
    controller.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    await until(() => site.openSockets.size === 0);
  });

  it("takes the server's settings where the session leaves the defaults", async () => {
    const tool = createWebFetch({ resolve: never });
    const settings = { ...defaultToolSettings, webFetch: { enabled: true, allowedDomains: ["a.example"] } };
    const listed = { params: webFetchParams.schema.parse({}), settings };
    const refused = await tool.run({ url: "https://docs.rs/" }, toolContext(listed));
    expect(refused.output).toHaveProperty("DomainNotAllowed");
    const own = toolContext({
      params: webFetchParams.schema.parse({ allowed_domains: ["docs.rs"] }),
      settings,
    });
    expect((await tool.run({ url: "https://docs.rs/" }, own)).output).toHaveProperty("Error");
  });

  it("keeps the password of a proxy out of the state", async () => {
    await using test = await testRuntime([local]);
    const session = test.runtime.sessions.session(undefined);
    const paramsJson = JSON.stringify({ proxy_endpoint: "http://user:s3cret@proxy.example:3128" });
    await session.finalize({ tools: [{ id: local.id, paramsJson }] });
    const state = JSON.stringify(await session.state());
    expect(state).toContain("proxy.example");
    expect(state).not.toContain("s3cret");
  });

  it("keeps the password of a proxy out of what is shown of the tool", async () => {
    await using test = await testRuntime([local]);
    const session = test.runtime.sessions.session(undefined);
    const options = { proxy_endpoint: "http://user:s3cret@proxy.example:3128" };
    const shown: unknown[] = [session.controls.setOptions(local.id, options, false)];
    shown.push(session.controls.options(local.id), session.listTools());
    await session.finalize({ tools: [{ id: local.id, paramsJson: JSON.stringify(options) }] });
    shown.push(session.controls.options("web_fetch"), session.listTools());
    shown.push(session.controls.setOptions("web_fetch", { timeout_secs: 5 }, false));
    for (const one of shown) {
      expect(JSON.stringify(one)).toContain("proxy.example");
      expect(JSON.stringify(one)).not.toContain("s3cret");
    }
  });

  it("is not there when it is switched off", async () => {
    await using test = await testRuntime([local], { settings: { webFetch: { enabled: false } } });
    const session = test.runtime.sessions.session(undefined);
    await session.finalize({ tools: [{ id: local.id }] });
    const { result } = await session.execute("web_fetch", {});
    expect(result).toMatchObject({ ok: false, error: { code: ErrorCode.NOT_IMPLEMENTED } });
  });
});
