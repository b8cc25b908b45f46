import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
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
  readonly #sessions: Map<string, StreamableHTTPServerTransport>;

  private constructor(server: Server, sessions: Map<string, StreamableHTTPServerTransport>) {
    this.#server = server;
    this.#sessions = sessions;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    server.on("request", (request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<HttpTestServer> {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    return new HttpTestServer(server, new Map());
  }

  /** Number of live sessions. */
  get sessionCount(): number {
    return this.#sessions.size;
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
