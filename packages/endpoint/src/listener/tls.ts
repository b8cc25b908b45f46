import { createServer, type Server, type TLSSocket } from "node:tls";

/** PEM texts. */
export interface TlsOptions {
  /** The certificate, with the chain below it. */
  readonly cert: string;
  readonly key: string;
  /** Certificates that sign those of clients. With it a client without a valid certificate is turned away. */
  readonly clientCa?: string | undefined;
}

/** What becomes of an accepted connection, by what its client asked for in the handshake. */
export interface TlsHandlers {
  readonly onHttp1: (socket: TLSSocket) => void;
  readonly onHttp2: (socket: TLSSocket) => void;
  readonly onError: (error: Error) => void;
}

/**
 * A TLS server that never listens: sockets are handed to it with `emit("connection")`.
 *
 * Not `http2.createSecureServer({ allowHTTP1 })`, whose HTTP/1.1 half needs a `request` listener, which would answer
 * every HTTP/2 stream a second time.
 */
export function createTlsServer(
  options: TlsOptions,
  handshakeTimeoutMs: number,
  handlers: TlsHandlers,
): Server {
  const server = createServer({
    cert: options.cert,
    key: options.key,
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: handshakeTimeoutMs,
    ...(options.clientCa !== undefined && {
      ca: options.clientCa,
      requestCert: true,
      rejectUnauthorized: true,
    }),
  });
  server.on("secureConnection", (socket) => {
    socket.on("error", handlers.onError);
    if (socket.alpnProtocol === "h2") handlers.onHttp2(socket);
    else handlers.onHttp1(socket);
  });
  server.on("tlsClientError", handlers.onError);
  return server;
}

/** Record `alert, fatal, protocol_version`: what a TLS client understands on a cleartext port. RFC 8446 §6 */
export const cleartextAlert: Uint8Array = Uint8Array.of(0x15, 3, 1, 0, 2, 2, 70);

/** What an HTTP/1.1 client sees that speaks clear text to a TLS port. */
export const tlsOnlyAnswer: string =
  "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 35\r\n\r\n" +
  "this port speaks TLS: use https://\n";
