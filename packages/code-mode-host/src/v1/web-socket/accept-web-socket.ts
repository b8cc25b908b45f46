import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, WebSocketServer, type WebSocket as WsSocket } from "ws";
import { MAX_PAYLOAD_BYTES, PREFIX_BYTES } from "../frame.ts";
import type { WebSocket } from "./web-socket.ts";

/** Makes WebSockets of upgrade requests. The only file that knows the library. */
export function createWebSocketAcceptor(): (
  upgrade: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
  onOpen: (socket: WebSocket) => void,
) => void {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // Frames are large and mostly answered on the same machine.
    perMessageDeflate: false,
    maxPayload: MAX_PAYLOAD_BYTES + PREFIX_BYTES,
  });
  return ({ request, socket, head }, onOpen) => {
    server.handleUpgrade(request, socket, head, (opened) => onOpen(toPort(opened)));
  };
}

function toPort(socket: WsSocket): WebSocket {
  let failure: Error | undefined;
  // Without a listener a broken frame would be an uncaught exception; `close` follows.
  socket.on("error", (error) => {
    failure = error;
  });
  return {
    listen(listener) {
      socket.on("message", (data, isBinary) => listener.message(toBuffer(data), isBinary));
      socket.on("pong", () => listener.alive());
      socket.on("ping", () => listener.alive());
      socket.once("close", () => listener.closed(failure));
    },
    send: (message, onSent) => socket.send(message, { binary: true }, (error) => onSent(error ?? undefined)),
    ping: () => socket.ping(() => {}),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.close(1000),
    terminate: () => socket.terminate(),
  };
}

function toBuffer(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
