import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One item of a model's answer, in the form of the Responses API. */
export type OutputItem = Readonly<Record<string, unknown>> & { readonly type: string };

/** One item that the CLI sends back: what a call gave. */
export interface CallOutput {
  readonly type: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly output: unknown;
}

/** A model that says what it was told to, on a port of its own. */
export interface ScriptedModel extends AsyncDisposable {
  readonly url: string;
  /** Every distinct output of a call that the CLI has sent, in the order of the first sending. */
  outputs(): readonly CallOutput[];
}

/** @param turns the answers to the first, second, … request; the last one is repeated */
export async function startScriptedModel(turns: readonly (readonly OutputItem[])[]): Promise<ScriptedModel> {
  const seen = new Map<string, CallOutput>();
  let requests = 0;
  const server = createServer((request, response) => {
    const isTurn = request.method === "POST" && request.url?.split("?")[0]?.endsWith("/responses") === true;
    if (!isTurn) {
      // It asks for the list of models, and copes without one.
      response.writeHead(200, { "content-type": "application/json" }).end('{"models":[],"data":[]}');
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.once("end", () => {
      const { input = [] } = JSON.parse(Buffer.concat(chunks).toString()) as { input?: CallOutput[] };
      for (const item of input) if (item.type.endsWith("_output")) seen.set(JSON.stringify(item), item);
      const number = requests++;
      answer(response, number, turns[Math.min(number, turns.length - 1)] ?? []);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    outputs: () => [...seen.values()],
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function answer(response: ServerResponse, number: number, items: readonly OutputItem[]): void {
  const say = (type: string, fields: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  };
  const id = `response-${number}`;
  response.writeHead(200, { "content-type": "text/event-stream" });
  say("response.created", { response: { id } });
  for (const [index, item] of items.entries()) {
    say("response.output_item.added", { output_index: index, item });
    say("response.output_item.done", { output_index: index, item });
  }
  const usage = {
    input_tokens: 1,
    input_tokens_details: null,
    output_tokens: 1,
    output_tokens_details: null,
    total_tokens: 2,
  };
  say("response.completed", { response: { id, usage } });
  response.end();
}
