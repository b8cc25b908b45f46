import type { Socket } from "node:net";
import type { Clock } from "@trivium/core";

/** What the first bytes of a connection announce. Anything that is neither TLS nor HTTP/2 is left to HTTP/1.1. */
export type SniffedProtocol = "tls" | "http2" | "http1";

/** Client connection preface. RFC 9113 §3.4 */
const PREFACE: Buffer = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
/** Content type of a TLS handshake record. RFC 8446 §5.1 */
const TLS_HANDSHAKE = 0x16;

export interface SniffOptions {
  readonly clock: Clock;
  /** Time to the verdict; then the socket is destroyed. */
  readonly timeoutMs: number;
  /** Called at most once, with all bytes back in the socket. The receiver owns the socket from here. */
  readonly onVerdict: (protocol: SniffedProtocol) => void;
}

/**
 * Looks at the first bytes of a fresh socket and says which protocol it speaks, however they are cut.
 *
 * A socket that ends, fails or stays silent before that is destroyed.
 */
export function sniffProtocol(socket: Socket, options: SniffOptions): void {
  const chunks: Buffer[] = [];
  const stop = (): void => {
    timer[Symbol.dispose]();
    socket.off("readable", onReadable).off("end", giveUp).off("close", stop);
  };
  const giveUp = (): void => {
    stop();
    socket.destroy();
  };
  const onReadable = (): void => {
    for (let chunk: unknown = socket.read(); chunk instanceof Buffer; chunk = socket.read())
      chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const verdict = protocolOf(bytes);
    if (verdict === undefined) return;
    stop();
    // Only now and only once: putting bytes back before the verdict would fire `readable` again and again.
    socket.unshift(bytes);
    options.onVerdict(verdict);
  };
  const timer = options.clock.setTimer(options.timeoutMs, giveUp);
  socket.on("readable", onReadable).on("end", giveUp).on("close", stop);
}

/** Undefined: more bytes are needed. */
export function protocolOf(bytes: Uint8Array): SniffedProtocol | undefined {
  if (bytes.length === 0) return undefined;
  if (bytes[0] === TLS_HANDSHAKE) return "tls";
  const length = Math.min(bytes.length, PREFACE.length);
  for (let index = 0; index < length; index++) {
    if (bytes[index] !== PREFACE[index]) return "http1";
  }
  return length === PREFACE.length ? "http2" : undefined;
}
