import type { Peer } from "./peer.ts";

/** Connects with the platform's own client; every frame is a message. */
export async function connectWebSocket(url: string): Promise<Peer> {
  const socket = new WebSocket(url);
  socket.binaryType = "arraybuffer";
  const ended = new Promise<undefined>((resolve) => {
    socket.addEventListener("close", () => resolve(undefined), { once: true });
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve(), { once: true });
    socket.addEventListener("error", () => reject(new Error(`${url} refused the WebSocket`)), { once: true });
  });
  return {
    send(frames) {
      for (const frame of frames) socket.send(new Uint8Array(frame));
    },
    close: () => socket.close(),
    onPayload(listener) {
      socket.addEventListener("message", ({ data }) => {
        listener(Buffer.from(data as ArrayBuffer).subarray(4));
      });
    },
    ended,
  };
}
