import { readFileSync } from "node:fs";
import { parseLossless } from "./lossless-json.ts";

/** A message of the protocol. */
export type Message = { readonly type: string } & Readonly<Record<string, unknown>>;

/** One frame of a recording: client to host or back. */
export interface RecordedFrame {
  readonly dir: "c2h" | "h2c";
  readonly json?: Message;
  /** Bytes that were written as they are, prefix included, in hexadecimal. */
  readonly rawHex?: string;
}

/** A recorded connection. The file is data: its field names are kept. */
export interface V1Vector {
  readonly name: string;
  readonly note: string;
  /** In wire order, as the client saw it. */
  readonly frames: readonly RecordedFrame[];
  /** Frames of the host that were left out, by type. */
  readonly elided?: Readonly<Record<string, number>>;
  readonly end: { readonly hostClosedFirst: boolean; readonly exitCode: number };
}

const file = new URL("../../vectors/code-mode-v1.json", import.meta.url);

/** Every recorded connection. */
export const v1Vectors: readonly V1Vector[] = parseLossless(readFileSync(file, "utf8")) as V1Vector[];

/** Recordings in which the client closes its end, and the host ends for it. */
export function isEndedByClient({ name, end }: V1Vector): boolean {
  return !end.hostClosedFirst || name.startsWith("eof-") || name === "frame-truncated-payload";
}
