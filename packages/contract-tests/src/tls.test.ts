import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { temporaryFolder } from "@trivium/core/testing";
import { selfSigned } from "@trivium/endpoint/testing";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { createNodeTransport } from "@trivium/rpc/node";
import { describe, expect, it } from "vitest";
import { startServerProcess } from "./server/server-process.ts";

describe("a server with tls.cert, tls.key and tls.clientCa", () => {
  it("serves every protocol to clients with a certificate, and nobody else", async () => {
    await using folder = await temporaryFolder();
    const [own, client] = [selfSigned("trivium"), selfSigned("client")];
    const files = { "cert.pem": own.cert, "key.pem": own.key, "client.pem": client.cert };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
    await using server = await startServerProcess({
      parameters: ["cert=cert", "key=key", "clientCa=client"].flatMap((pair) => {
        const [key, name] = pair.split("=");
        return ["--set", `tls.${key}=${join(folder.path, `${name}.pem`)}`];
      }),
    });
    expect(server.url).toMatch(/^https:/);
    for (const protocol of ["grpc", "grpc-web", "connect"] as const) {
      await using transport = createNodeTransport({
        baseUrl: server.url,
        protocol,
        tls: { ca: own.cert, cert: client.cert, key: client.key },
      });
      expect((await createClient(CrabCodeService, transport).healthCheck({})).status).toBe("ok");
    }
    await using stranger = createNodeTransport({ baseUrl: server.url, tls: { ca: own.cert } });
    await expect(createClient(CrabCodeService, stranger).healthCheck({})).rejects.toThrow();
    const clear = await fetch(`${server.url.replace("https", "http")}/healthz`);
    expect({ status: clear.status, text: await clear.text() }).toEqual({
      status: 400,
      text: "this port speaks TLS: use https://\n",
    });
  });
});
