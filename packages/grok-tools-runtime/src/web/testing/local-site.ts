import { once } from "node:events";
// oxlint-disable-next-line no-restricted-imports -- a site to fetch from, in tests only
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** A web server on loopback; disposing it closes its connections too. */
export interface LocalSite extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly port: number;
  /** `GET /path` of every request, in order. */
  readonly requests: string[];
  /** Connections that are open now. */
  readonly openSockets: Set<Socket>;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Starts a {@link LocalSite}. */
export async function localSite(answer: Answer): Promise<LocalSite> {
  const requests: string[] = [];
  const openSockets = new Set<Socket>();
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    // A request that broke off is the business of the test that broke it off.
    Promise.resolve(answer(request, response)).catch(() => response.destroy());
  });
  server.on("connection", (socket) => {
    openSockets.add(socket);
    socket.on("close", () => openSockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    requests,
    openSockets,
    async [Symbol.asyncDispose]() {
      for (const socket of openSockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** The JSON body of a request. */
export async function jsonBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}
