import { PassThrough } from "node:stream";
import { createV1Host, type V1Host, type WebSocketHost } from "@trivium/code-mode-host";
import { createCellEngine, createCodeModeRuntime } from "@trivium/code-mode-runtime";
import { randomIds, silentLogger, systemClock } from "@trivium/core";
import { type Peer, takePayloads } from "./peer.ts";
import { connectWebSocket } from "./web-socket-peer.ts";

/** A V1 host with real cells, for clients over pipes and over WebSockets. */
export interface V1Server extends AsyncDisposable {
  readonly url: string;
  connectStdio(): Peer;
  connectWebSocket(): Promise<Peer>;
}

export async function startV1Server(): Promise<V1Server> {
  const engine = createCellEngine();
  const common = { clock: systemClock, ids: randomIds, logger: silentLogger };
  const runtime = createCodeModeRuntime({ engine, ...common });
  const host = createV1Host({ runtime, ...common });
  const sockets: WebSocketHost = await host.listenWebSockets({ host: "127.0.0.1", port: 0 });
  return {
    url: sockets.url,
    connectStdio: () => connectPipes(host),
    connectWebSocket: () => connectWebSocket(sockets.url),
    async [Symbol.asyncDispose]() {
      await sockets[Symbol.asyncDispose]();
      await runtime[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
    },
  };
}

function connectPipes(host: V1Host): Peer {
  const input = new PassThrough();
  const output = new PassThrough();
  const ended = host.serveStdio({ input, output }, new AbortController().signal).then(
    () => 0,
    () => 1,
  );
  return {
    send: (frames) => void input.write(Buffer.concat(frames)),
    close: () => void input.end(),
    onPayload(listener) {
      let rest: Buffer = Buffer.alloc(0);
      output.on("data", (chunk: Buffer) => {
        rest = takePayloads(Buffer.concat([rest, chunk]), listener);
      });
    },
    ended,
  };
}
