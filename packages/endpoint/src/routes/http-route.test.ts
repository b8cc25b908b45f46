import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { ClientHttp2Stream } from "node:http2";
import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { createEndpoint } from "../endpoint.ts";
import { answerOf, rawHttp2 } from "../testing/raw-http2.ts";
import { recordingLogger } from "../testing/recording-logger.ts";
import { findRoute, type HttpRoute } from "./http-route.ts";

const handle = (): Response => new Response("x");

describe("findRoute", () => {
  const routes: HttpRoute[] = ["/*", "/assets/*", "/assets/app.js"].map((path) => ({ path, handle }));

  it.each([
    ["/", "/*"],
    ["/assets", "/*"],
    ["/assets/", "/assets/*"],
    ["/assets/app.css", "/assets/*"],
    ["/assets/app.js", "/assets/app.js"],
  ])("gives %s to %s", (path, expected) => {
    expect(findRoute(routes, path)?.path).toBe(expected);
  });
});

describe("a route", () => {
  it.each(["HTTP/1.1", "HTTP/2"])("streams its response over %s, without body for HEAD", async (version) => {
    await using endpoint = createEndpoint({
      services: [],
      routes: [
        {
          path: "/page/*",
          handle: (request) =>
            new Response(`${request.method} ${new URL(request.url).search} ${"x".repeat(1_000_000)}`, {
              headers: { "content-type": "text/html", connection: "x-hop", "x-hop": "1" },
            }),
        },
      ],
    });
    const { url } = await endpoint.listen();
    if (version === "HTTP/1.1") {
      const response = await fetch(`${url}/page/1?q=2`);
      expect((await response.text()).slice(0, 9)).toBe("GET ?q=2 ");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      const head = await fetch(`${url}/page/1`, { method: "HEAD" });
      expect(head.headers.get("content-type")).toBe("text/html");
      expect(head.headers.has("content-length")).toBe(false);
    } else {
      await using client = await rawHttp2(url);
      const { headers, body } = await answerOf(client.session.request({ ":path": "/page/1?q=2" }));
      expect(headers).toMatchObject({ ":status": 200, "content-type": "text/html" });
      expect(body.byteLength).toBe(1_000_009);
      const head = await answerOf(client.session.request({ ":path": "/page/1", ":method": "HEAD" }));
      expect(head.body.byteLength).toBe(0);
    }
  });

  it("answers only GET and HEAD", async () => {
    await using endpoint = createEndpoint({ services: [], routes: [{ path: "/page", handle }] });
    const { url } = await endpoint.listen();
    const response = await fetch(`${url}/page`, { method: "POST", body: "x" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD");
  });

  it("that throws is a 500 without its message, and logged", async () => {
    const logger = recordingLogger();
    await using endpoint = createEndpoint({
      services: [],
      logger,
      routes: [
        {
          path: "/page",
          handle: () => {
            throw new Error("secret");
          },
        },
      ],
    });
    const { url } = await endpoint.listen();
    const response = await fetch(`${url}/page`);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret");
    expect(String(logger.lines[0]?.fields["error"])).toContain("secret");
  });

  it.each(["HTTP/1.1", "HTTP/2"])(
    "is told when its client is gone, and its body is cancelled, over %s",
    async (version) => {
      const cancelled = Promise.withResolvers<void>();
      const aborted = Promise.withResolvers<void>();
      await using endpoint = createEndpoint({
        services: [],
        routes: [
          {
            path: "/flood",
            handle: (request) => {
              request.signal.addEventListener("abort", () => aborted.resolve());
              const body = new ReadableStream({
                pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
                cancel: () => cancelled.resolve(),
              });
              return new Response(body);
            },
          },
        ],
      });
      const { url, port } = await endpoint.listen();
      if (version === "HTTP/1.1") {
        const request = httpRequest({ port, host: "127.0.0.1", path: "/flood" });
        request.on("error", () => {});
        request.end();
        const [response] = (await once(request, "response")) as [IncomingMessage];
        response.on("error", () => {});
        request.destroy();
      } else {
        const client = await rawHttp2(url);
        const stream = client.session.request({ ":path": "/flood" });
        stream.on("error", () => {});
        await once(stream, "response");
        stream.close(8);
        await Promise.all([cancelled.promise, aborted.promise]);
        await client[Symbol.asyncDispose]();
      }
      await Promise.all([cancelled.promise, aborted.promise]);
    },
  );

  it.each(["HTTP/1.1", "HTTP/2"])(
    "whose client left before there was a response has its body cancelled, over %s",
    async (version) => {
      const request = Promise.withResolvers<Request>();
      const go = Promise.withResolvers<void>();
      const cancelled = Promise.withResolvers<void>();
      await using endpoint = createEndpoint({
        services: [],
        routes: [
          {
            path: "/slow",
            handle: async (received) => {
              request.resolve(received);
              await go.promise;
              // Never says anything: only a cancel ends it.
              return new Response(new ReadableStream({ cancel: () => cancelled.resolve() }));
            },
          },
        ],
      });
      const { url, port } = await endpoint.listen();
      await using client = await rawHttp2(url);
      const leave =
        version === "HTTP/1.1"
          ? requestOverHttp1(port, "/slow")
          : requestOverHttp2(client.session.request({ ":path": "/slow" }));
      const { signal } = await request.promise;
      const aborted = once(signal, "abort");
      leave();
      await aborted;
      go.resolve();
      await cancelled.promise;
    },
  );

  it("may be read slowly also when its response is one large piece", async () => {
    const clock = new ManualClock();
    await using endpoint = createEndpoint({
      clock,
      services: [],
      routes: [{ path: "/large", handle: () => new Response(Buffer.alloc(2_000_000)) }],
    });
    const { url } = await endpoint.listen();
    await using client = await rawHttp2(url);
    const stream = client.session.request({ ":path": "/large" });
    stream.on("data", () => {
      stream.pause();
      void clock.advance(1_000).then(() => stream.resume());
    });
    expect((await answerOf(stream)).body.byteLength).toBe(2_000_000);
  });

  it("whose path is no path is refused when the endpoint is made", () => {
    expect(() => createEndpoint({ services: [], routes: [{ path: "page", handle }] })).toThrow("slash");
  });
});

/** Sends a request; the result takes it back. */
function requestOverHttp1(port: number, path: string): () => void {
  const request = httpRequest({ port, host: "127.0.0.1", path });
  request.on("error", () => {});
  request.end();
  return () => void request.destroy();
}

function requestOverHttp2(stream: ClientHttp2Stream): () => void {
  stream.on("error", () => {});
  return () => stream.close(8);
}

describe("/readyz", () => {
  it("says what the app says", async () => {
    let ready = false;
    await using endpoint = createEndpoint({ services: [], isReady: () => ready });
    const { url } = await endpoint.listen();
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    ready = true;
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    endpoint.health.setServing("", false);
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});
