import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An answer of the provider, written piece by piece. */
export type Answer = (write: (text: string) => void) => Promise<void> | void;

/** A provider of the Chat Completions grammar on loopback. What it says is up to the bench. */
export interface BenchProvider extends AsyncDisposable {
  /** Plays every answer from now on. */
  answer: Answer;
  /** Parameters with which a server uses it. */
  readonly parameters: readonly string[];
}

/** Starts one; it says `ok` until told otherwise. */
export async function startProvider(): Promise<BenchProvider> {
  const server = createServer((request, response) => {
    request.resume();
    request.once("end", () => void play(provider.answer, response));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const profile = {
    provider: "router",
    format: "openai",
    baseUrl: `http://127.0.0.1:${port}/v1`,
    model: "m",
    apiKeyEnv: "BENCH_KEY",
    contextWindow: 100_000_000,
  };
  const provider: BenchProvider = {
    answer: (write) => write("ok"),
    parameters: ["--set", `models=${JSON.stringify({ bench: profile })}`, "--set", "defaultModel=bench"],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return provider;
}

async function play(answer: Answer, response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  await answer((content) => response.write(frame({ delta: { content } })));
  response.write(frame({ delta: {}, finish_reason: "stop" }));
  response.end("data: [DONE]\n\n");
}

function frame(choice: { delta: object; finish_reason?: string }): string {
  const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  return `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`;
}
