import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { sleep, systemClock } from "@trivium/core";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { createNodeTransport } from "@trivium/rpc/node";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createEndpoint } from "./endpoint.ts";

const protocols = [
  { protocol: "grpc" },
  { protocol: "grpc-web" },
  { protocol: "connect" },
  { protocol: "grpc-web", httpVersion: "1.1" },
  { protocol: "connect", httpVersion: "1.1" },
] as const;

// What an uncaught exception would do here is vitest's to tell: it fails the run.
it("leaves nothing behind of clients that give up, time out, stop reading or vanish at any moment", async () => {
  let runningHandlers = 0;
  await using endpoint = createEndpoint({
    services: [
      (router) =>
        router.service(CrabCodeService, {
          async getAgent({ agentId }, { signal }) {
            runningHandlers++;
            try {
              await sleep(systemClock, agentId.length % 15, signal);
              return { agentId };
            } finally {
              runningHandlers--;
            }
          },
          async *sendMessage({ text }, { signal }) {
            runningHandlers++;
            try {
              for (let count = 0; count < 40; count++) {
                yield { payloadJson: text };
                if (count % 10 === 0) await sleep(systemClock, 1, signal);
              }
            } finally {
              runningHandlers--;
            }
          },
        }),
    ],
  });
  const { url } = await endpoint.listen();
  const call = fc.record({
    isStream: fc.boolean(),
    bytes: fc.nat({ max: 30_000 }),
    abortAfterMs: fc.option(fc.nat({ max: 25 })),
    timeoutMs: fc.option(fc.integer({ min: 1, max: 25 })),
    readsMessages: fc.nat({ max: 50 }),
  });
  const client = fc.record({
    options: fc.constantFrom(...protocols),
    calls: fc.array(call, { minLength: 5, maxLength: 15 }),
    vanishesAfterMs: fc.option(fc.nat({ max: 25 })),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(client, { minLength: 2, maxLength: 4 }), async (clients) => {
      await Promise.all(clients.map((each) => run(url, each)));
      while (runningHandlers > 0 || endpoint.stats().activeCalls > 0) await sleep(systemClock, 5);
      expect(endpoint.stats().requestBytes).toBe(0);
    }),
    { numRuns: 10, seed: 5, endOnFailure: true },
  );
  while (Object.values(endpoint.stats().connections).some((count) => count > 0)) await sleep(systemClock, 5);
});

interface FickleCall {
  readonly isStream: boolean;
  readonly bytes: number;
  readonly abortAfterMs: number | null;
  readonly timeoutMs: number | null;
  readonly readsMessages: number;
}

interface FickleClient {
  readonly options: (typeof protocols)[number];
  readonly calls: readonly FickleCall[];
  readonly vanishesAfterMs: number | null;
}

async function run(baseUrl: string, { options, calls, vanishesAfterMs }: FickleClient): Promise<void> {
  const transport = createNodeTransport({ baseUrl, ...options });
  const client = createClient(CrabCodeService, transport);
  const outcomes = calls.map(async (call) => {
    const stop = new AbortController();
    if (call.abortAfterMs !== null) setTimeout(() => stop.abort(), call.abortAfterMs);
    const callOptions = {
      signal: stop.signal,
      ...(call.timeoutMs !== null && { timeoutMs: call.timeoutMs }),
    };
    const text = "x".repeat(call.bytes);
    try {
      if (!call.isStream) await client.getAgent({ agentId: text }, callOptions);
      let read = 0;
      if (call.isStream) {
        for await (const _ of client.sendMessage({ text }, callOptions)) {
          if (++read > call.readsMessages) break;
        }
      }
    } catch (thrown) {
      expect([Code.Canceled, Code.DeadlineExceeded, Code.Unavailable]).toContain(
        ConnectError.from(thrown).code,
      );
    }
  });
  if (vanishesAfterMs !== null) await sleep(systemClock, vanishesAfterMs);
  else await Promise.all(outcomes);
  await transport[Symbol.asyncDispose]();
  await Promise.all(outcomes);
}
