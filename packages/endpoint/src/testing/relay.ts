import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP relay to a port of this machine that can become a black hole: sockets stay open, bytes vanish. */
export async function relayTo(
  port: number,
): Promise<{ readonly url: string; swallow(): void } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (inner) => {
    const outer = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    inner.pipe(outer).pipe(inner);
    for (const socket of [inner, outer]) {
      sockets.add(socket);
      socket.on("error", () => {});
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    swallow() {
      for (const socket of sockets) socket.unpipe().resume();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
