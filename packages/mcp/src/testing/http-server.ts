import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createTestServer } from "./test-tools.ts";

/** The test server on a port of the loopback interface. */
export class HttpTestServer implements AsyncDisposable {
  readonly url: string;
  /** HTTP methods of the requests, in order. */
  readonly methods: string[] = [];
  /** What every request must carry as `authorization`; undefined: nothing. */
  authorization: string | undefined;
  /** What it says to requests without it. */
  refusal = "who are you?";
  readonly #server: Server;
  readonly #sessions: Map<string, StreamableHTTPServerTransport> = new Map();
  /** Of the older way. */
  readonly #streams: Map<string, SSEServerTransport> = new Map();

  private constructor(server: Server, { isOlder }: { readonly isOlder: boolean }) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    server.on(
      "request",
      (request, response) =>
        void (isOlder ? this.#answerOlder(request, response) : this.#answer(request, response)),
    );
  }

  /** @param isOlder it talks over a stream of events and knows no other way */
  static async start({ isOlder = false }: { readonly isOlder?: boolean } = {}): Promise<HttpTestServer> {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    return new HttpTestServer(server, { isOlder });
  }

  /** Number of live sessions. */
  get sessionCount(): number {
    return this.#sessions.size + this.#streams.size;
  }

  /** As a restart: nobody's session is known any more. */
  forgetSessions(): void {
    this.#sessions.clear();
  }

  /** Cuts every connection. */
  cutConnections(): void {
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    this.cutConnections();
    await closed;
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.methods.push(request.method ?? "");
    if (this.authorization !== undefined && request.headers.authorization !== this.authorization) {
      response.writeHead(401).end(this.refusal);
      return;
    }
    const { "mcp-session-id": sessionId } = request.headers;
    if (typeof sessionId === "string" && !this.#sessions.has(sessionId)) {
      response.writeHead(404).end("no such session");
      return;
    }
    const known = typeof sessionId === "string" ? this.#sessions.get(sessionId) : undefined;
    await (known ?? (await this.#openSession())).handleRequest(request, response);
  }

  async #answerOlder(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.methods.push(request.method ?? "");
    const { pathname, searchParams } = new URL(request.url ?? "", this.url);
    if (pathname === "/messages") {
      const stream = this.#streams.get(searchParams.get("sessionId") ?? "");
      if (stream === undefined) response.writeHead(404).end("no such session");
      else await stream.handlePostMessage(request, response);
    } else if (request.method === "GET") {
      const stream = new SSEServerTransport("/messages", response);
      this.#streams.set(stream.sessionId, stream);
      stream.onclose = () => void this.#streams.delete(stream.sessionId);
      await createTestServer().connect(stream);
    } else response.writeHead(405).end("only GET");
  }

  async #openSession(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (sessionId) => void this.#sessions.set(sessionId, transport),
      onsessionclosed: (sessionId) => void this.#sessions.delete(sessionId),
    });
    await createTestServer().connect(
      transport as Parameters<ReturnType<typeof createTestServer>["connect"]>[0],
    );
    return transport;
  }
}
