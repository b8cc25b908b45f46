import type { BulkReservation } from "./bulk-pairing.ts";
import { Connection } from "./connection.ts";
import type { ConnectionDeps } from "./connection-deps.ts";
import { decodeClientMessage } from "./decode-client-message.ts";
import { encodeFrame } from "./frame.ts";
import { readyMessage, rejectedMessage } from "./host-message.ts";
import type { Lane } from "./lane.ts";
import { negotiate, wantsBulk } from "./negotiate.ts";
import { PeekedPayloads } from "./peeked-payloads.ts";
import { ProtocolError } from "./protocol-error.ts";

/** Options of {@link serveClient}. */
export interface ServeClientOptions {
  /** Aborts to end the connection as if the client had left. */
  readonly signal: AbortSignal;
  /** Time for the hello. Absent: any. */
  readonly helloMs?: number | undefined;
  /** Reserves a second lane; undefined when none can be had. Absent: never. */
  readonly reserveBulk?: (() => BulkReservation | undefined) | undefined;
}

/** Time for a client to attach the second lane it was granted. */
const BULK_MS = 10_000;
/** Time for a client to read what was said before the end. */
const CLOSE_MS = 5_000;

/**
 * Serves one client from its hello to its end. The lane is closed then, and nothing of the client is left.
 *
 * @throws {@link ProtocolError} when the client broke the protocol; what the lane reports when that broke.
 */
export async function serveClient(
  deps: ConnectionDeps,
  control: Lane,
  options: ServeClientOptions,
): Promise<void> {
  await using lanes = new AsyncDisposableStack();
  lanes.defer(() => closeLane(deps, control));
  const { signal, helloMs } = options;
  const payloads = control.payloads[Symbol.asyncIterator]();
  const say = (json: string): void => control.write(encodeFrame(json), () => {});
  const hello = await within(payloads.next(), helloMs, { deps, signal });
  if (hello === undefined || hello.done === true) return;
  const message = decodeClientMessage(hello.value);
  if (message.type !== "connection/hello") {
    const text = `the first message must be connection/hello, not ${message.type}`;
    say(rejectedMessage({ type: "invalidHello", message: text }));
    return;
  }
  const reservation = wantsBulk(message.hello) ? options.reserveBulk?.() : undefined;
  lanes.use(reservation);
  const negotiation = negotiate(message.hello, reservation !== undefined);
  if (negotiation.type === "rejected") {
    say(rejectedMessage(negotiation.reason));
    return;
  }
  const { ready, maxDelegates } = negotiation;
  say(readyMessage({ ...ready, bulkConnectionToken: reservation?.token }));
  const rest = new PeekedPayloads(payloads);
  let bulk: Lane | undefined;
  if (reservation !== undefined) {
    bulk = await within(Promise.race([reservation.lane, rest.ended()]), BULK_MS, { deps, signal });
    if (bulk === undefined) return;
    const attached = bulk;
    lanes.defer(() => closeLane(deps, attached));
  }
  await new Connection(deps, { control: withPayloads(control, rest), bulk }, maxDelegates).serve(signal);
}

/** The handshake has read the first payload: the connection reads on from there. */
function withPayloads(lane: Lane, payloads: AsyncIterable<Uint8Array>): Lane {
  return {
    payloads,
    write: (frame, onWritten) => lane.write(frame, onWritten),
    close: () => lane.close(),
    destroy: () => lane.destroy(),
  };
}

/** What comes in time; undefined when the connection is to end before. */
async function within<Value>(
  promise: Promise<Value>,
  timeMs: number | undefined,
  { deps, signal }: { readonly deps: ConnectionDeps; readonly signal: AbortSignal },
): Promise<Value | undefined> {
  const { promise: stopped, resolve, reject } = Promise.withResolvers<undefined>();
  const stop = (): void => resolve(undefined);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  using _ = timeMs === undefined ? undefined : deps.clock.setTimer(timeMs, () => reject(tooLate(timeMs)));
  try {
    return await Promise.race([promise, stopped]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function tooLate(timeMs: number): ProtocolError {
  return new ProtocolError(`the client did not finish its handshake within ${timeMs} ms`);
}

/** A client that does not read does not hold up the end. */
async function closeLane({ clock }: ConnectionDeps, lane: Lane): Promise<void> {
  using _ = clock.setTimer(CLOSE_MS, () => lane.destroy());
  await lane.close();
  lane.destroy();
}
