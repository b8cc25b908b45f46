import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { abortReason, TriviumError } from "@trivium/core";
import { type HttpResponse, unreachable } from "./send-request.ts";

/** Encodings that {@link readBody} undoes, for `accept-encoding`. */
export const ACCEPTED_ENCODINGS = "gzip, deflate, br";

/** How much of a body to read. */
export interface BodyLimits {
  readonly url: URL;
  /** Of the body as it travels and of what it inflates to. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * The whole body, inflated. What is larger than allowed is noticed while it comes: neither a long body nor a small
 * one that inflates to a large one is ever in memory.
 *
 * @throws {@link TriviumError} `outOfRange` when it is larger, `dataLoss` for an encoding that is unknown or broken,
 * `unavailable` when the connection broke off, and the reason of the signal.
 */
export async function readBody(
  response: HttpResponse,
  { url, maxBytes, signal }: BodyLimits,
): Promise<Buffer> {
  const announced = Number(response.header("content-length") ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  const decoders = decodersOf(response.header("content-encoding"));
  const chunks: Buffer[] = [];
  const collect = counter(maxBytes, (chunk) => chunks.push(chunk));
  const steps = decoders.length === 0 ? [] : [counter(maxBytes), ...decoders];
  try {
    await pipeline([response.body, ...steps, collect, sink], { signal });
  } catch (cause) {
    if (signal.aborted) throw abortReason(signal);
    if (TriviumError.isInstance(cause)) throw cause;
    if (isEncodingFault(cause)) {
      throw new TriviumError("dataLoss", `the body of ${url.host} cannot be decompressed`, { cause });
    }
    throw unreachable(url, cause);
  }
  return Buffer.concat(chunks);
}

function decodersOf(header: string | undefined): Transform[] {
  const names = (header ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  // Each encoding has its own decompressor, and nobody needs more than two.
  if (names.length > 2) throw new TriviumError("dataLoss", "the body is encoded more than twice");
  // The last encoding was applied last.
  return names.reverse().map(decoderOf);
}

function decoderOf(name: string): Transform {
  if (name === "gzip" || name === "x-gzip") return createGunzip();
  if (name === "deflate") return createInflate();
  if (name === "br") return createBrotliDecompress();
  throw new TriviumError(
    "dataLoss",
    `the body has the encoding ${name}; only ${ACCEPTED_ENCODINGS} are known`,
  );
}

/** Hands bytes on and fails on the first one too many. */
function counter(maxBytes: number, take?: (chunk: Buffer) => void): Transform {
  let total = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      total += chunk.length;
      if (total > maxBytes) {
        done(tooLarge(maxBytes));
        return;
      }
      take?.(chunk);
      done(null, take === undefined ? chunk : undefined);
    },
  });
}

async function sink(source: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of source);
}

function tooLarge(maxBytes: number): TriviumError {
  return new TriviumError("outOfRange", `the body is larger than ${maxBytes} bytes`);
}

function isEncodingFault(cause: unknown): boolean {
  return (
    cause instanceof Error &&
    "code" in cause &&
    typeof cause.code === "string" &&
    /^(Z_|ERR_BROTLI|ERR__?ERROR_|ERR_PADDING)/.test(cause.code)
  );
}
