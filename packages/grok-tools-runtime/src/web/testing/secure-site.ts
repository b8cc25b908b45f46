import { once } from "node:events";
// oxlint-disable-next-line no-restricted-imports -- a proxy in tests only
import { createServer as createProxy, type ServerResponse } from "node:http";
// oxlint-disable-next-line no-restricted-imports -- a site to fetch from, in tests only
import { createServer } from "node:https";
import { connect, type Server } from "node:net";
import { siteCertificate, siteKey } from "./site-certificate.ts";

/** `https://site.example` on loopback, and a proxy that leads every tunnel to it. */
export interface SecureSite extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:PORT` */
  readonly proxy: string;
  /** What the proxy was asked for: `93.184.216.34:443`. */
  readonly tunnels: string[];
  /** `Host` and path of every request: `site.example/path`. */
  readonly requests: string[];
}

/** Starts a {@link SecureSite}. */
export async function secureSite(
  answer: (path: string, response: ServerResponse) => void,
): Promise<SecureSite> {
  const requests: string[] = [];
  const tunnels: string[] = [];
  const site = createServer({ cert: siteCertificate, key: siteKey }, (request, response) => {
    requests.push(`${request.headers.host}${request.url}`);
    answer(request.url ?? "", response);
  });
  site.on("tlsClientError", () => {});
  const port = await listen(site);
  const proxy = createProxy();
  proxy.on("connect", (request, client) => {
    tunnels.push(request.url ?? "");
    const upstream = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on("error", () => client.destroy());
    client.on("error", () => upstream.destroy());
  });
  const proxyPort = await listen(proxy);
  return {
    port,
    proxy: `http://127.0.0.1:${proxyPort}`,
    tunnels,
    requests,
    async [Symbol.asyncDispose]() {
      site.closeAllConnections();
      await Promise.all([site, proxy].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}
