import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { ManualClock } from "@trivium/core/testing";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SniffedProtocol, sniffProtocol } from "./protocol-sniffer.ts";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const TLS_HELLO = Buffer.from([0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3]);

type Outcome = { verdict: SniffedProtocol | undefined; bytes: Buffer; socket: Socket };

describe("sniffProtocol", () => {
  let server: Server;
  let port: number;
  let clock: ManualClock;
  let outcome: PromiseWithResolvers<Outcome>;
  let accepted: PromiseWithResolvers<Socket>;

  beforeAll(async () => {
    clock = new ManualClock();
    server = createServer({ allowHalfOpen: true }, (socket) => {
      accepted.resolve(socket);
      // This connection's own: the next test may have begun when its socket closes.
      const { resolve } = outcome;
      socket.on("error", () => {});
      socket.on("close", () => resolve({ verdict: undefined, bytes: Buffer.alloc(0), socket }));
      sniffProtocol(socket, {
        clock,
        timeoutMs: 10_000,
        onVerdict: (verdict) => {
          const chunks: Buffer[] = [];
          const collect = (): void => resolve({ verdict, bytes: Buffer.concat(chunks), socket });
          socket.on("data", (chunk: Buffer) => chunks.push(chunk));
          socket.on("end", collect);
        },
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  });

  afterAll(() => void server.close());

  /** Sends pieces, each its own packet as far as the kernel lets us, then FIN. */
  async function send(pieces: readonly Buffer[]): Promise<Outcome> {
    outcome = Promise.withResolvers();
    accepted = Promise.withResolvers();
    const client = connect({ port, host: "127.0.0.1", noDelay: true });
    client.on("error", () => {});
    await once(client, "connect");
    for (const piece of pieces) {
      if (piece.byteLength === 0) continue;
      await new Promise((resolve) => client.write(piece, resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
    client.end();
    const result = await outcome.promise;
    result.socket.destroy();
    client.destroy();
    return result;
  }

  it.each(Array.from({ length: PREFACE.length }, (_, index) => index + 1))(
    "knows HTTP/2 when the preface is cut after byte %i, and gives every byte back",
    async (cut) => {
      const bytes = Buffer.concat([PREFACE, SETTINGS]);
      const result = await send([bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect(result.verdict).toBe("http2");
      expect(result.bytes).toEqual(bytes);
    },
  );

  it("gives one verdict however the first bytes are cut", async () => {
    const beginning = fc.constantFrom(
      { bytes: Buffer.concat([PREFACE, SETTINGS]), verdict: "http2" },
      { bytes: TLS_HELLO, verdict: "tls" },
      ...["GET", "PUT", "POST", "PATCH", "PROPFIND", "PRINT", "OPTIONS"].map((method) => ({
        bytes: Buffer.from(`${method} / HTTP/1.1\r\nhost: localhost\r\n\r\n`),
        verdict: "http1",
      })),
      { bytes: Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\rX"), verdict: "http1" },
      { bytes: Buffer.from([0xff, 0, 1, 2]), verdict: "http1" },
    );
    const cuts = fc.array(fc.nat({ max: 40 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(beginning, cuts, async ({ bytes, verdict }, positions) => {
        const result = await send(cutAt(bytes, positions));
        expect(result.verdict).toBe(verdict);
        expect(result.bytes).toEqual(bytes);
      }),
      { numRuns: 100, seed: 7 },
    );
  });

  it("leaves junk to HTTP/1.1, one byte at a time or not", async () => {
    const junk = fc
      .uint8Array({ minLength: 1, maxLength: 30 })
      .filter((bytes) => bytes[0] !== 0x16 && bytes[0] !== 0x50);
    await fc.assert(
      fc.asyncProperty(junk, async (bytes) => {
        const pieces = Array.from(bytes, (byte) => Buffer.of(byte));
        expect((await send(pieces)).verdict).toBe("http1");
      }),
      { numRuns: 50, seed: 11 },
    );
  });

  it.each([
    ["nothing", Buffer.alloc(0)],
    ["half a preface", PREFACE.subarray(0, 12)],
  ])("destroys a socket that sends %s and is silent, when its time is up", async (_what, bytes) => {
    outcome = Promise.withResolvers();
    accepted = Promise.withResolvers();
    const client = connect(port, "127.0.0.1");
    client.write(bytes);
    const socket = await accepted.promise;
    while (socket.bytesRead < bytes.byteLength) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(9_999);
    expect(socket.destroyed).toBe(false);
    await clock.advance(1);
    expect(socket.destroyed).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    client.destroy();
  });

  it.each([
    ["ends", (client: Socket) => void client.end()],
    ["is reset", (client: Socket) => void client.resetAndDestroy()],
  ])("destroys a socket that %s before a verdict, and forgets its timer", async (_what, leave) => {
    outcome = Promise.withResolvers();
    accepted = Promise.withResolvers();
    const client = connect(port, "127.0.0.1");
    await once(client, "connect");
    client.write(PREFACE.subarray(0, 5));
    await accepted.promise;
    leave(client);
    const { verdict, socket } = await outcome.promise;
    expect(verdict).toBeUndefined();
    expect(socket.destroyed).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    client.destroy();
  });
});

function cutAt(bytes: Buffer, positions: readonly number[]): Buffer[] {
  const sorted = [0, ...positions.filter((position) => position < bytes.length), bytes.length].sort(
    (a, b) => a - b,
  );
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
}
