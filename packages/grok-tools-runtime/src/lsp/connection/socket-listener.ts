import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { abortable } from "@trivium/core";
import type { ServerChannel } from "./server-channel.ts";

/** The connection of a server that was given a port. */
export interface AcceptedSocket extends Pick<ServerChannel, "output" | "write" | "endInput"> {
  destroy(): void;
}

/** A port of this machine that takes one connection. Disposing closes the port; an accepted connection stays. */
export class SocketListener implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  readonly #accepted: Promise<Socket>;
  #isTaken = false;

  private constructor(server: Server, accepted: Promise<Socket>) {
    this.#server = server;
    this.#accepted = accepted;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server that listens has such an address
    this.port = (server.address() as AddressInfo).port;
  }

  static async open(): Promise<SocketListener> {
    const server = createServer();
    server.maxConnections = 1;
    const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", resolve);
    });
    return new SocketListener(server, accepted);
  }

  /** @throws the reason of `signal`. */
  async accept(signal: AbortSignal): Promise<AcceptedSocket> {
    const socket = await abortable(this.#accepted, signal);
    this.#isTaken = true;
    // A lost connection shows in the end of what can be read.
    socket.on("error", () => {});
    return {
      output: readable(socket),
      write: (bytes) => new Promise((resolve) => void socket.write(bytes, () => resolve())),
      endInput: () => void socket.end(),
      destroy: () => void socket.destroy(),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A connection that nobody took ends with the port; waiting for the end would be waiting for one that was taken.
    void this.#accepted.then((socket) => {
      if (!this.#isTaken) socket.destroy();
    });
    this.#server.close();
    await Promise.resolve();
  }
}

async function* readable(socket: Socket): AsyncGenerator<Uint8Array> {
  try {
    yield* socket as AsyncIterable<Uint8Array>;
  } catch {
    // The end, as far as a reader is concerned.
  }
}
