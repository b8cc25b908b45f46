import { sleep } from "@trivium/core";
import type { Command } from "../process/command-runner.ts";
import type { ToolContext } from "../tool.ts";
import { fromCharacterStart } from "./shell-text.ts";

const INTERVAL_MS = 100;
/** What is reported at most per interval; of a faster output the newest part. */
const MAX_STEP_BYTES = 64 * 1024;
const MAX_FRAME_BYTES = 16_384;

/** Passes the output of a running command on, ten times a second, in pieces that end between two characters. */
export async function reportProgress(
  running: Command,
  { clock, progress, logger }: Pick<ToolContext, "clock" | "progress" | "logger">,
  signal: AbortSignal,
): Promise<void> {
  let offset = 0;
  try {
    while (!signal.aborted && running.status !== "ended") {
      await sleep(clock, INTERVAL_MS, signal);
      const announced = running.outputBytes;
      const isSkipping = announced - offset > MAX_STEP_BYTES;
      if (isSkipping) offset = announced - MAX_STEP_BYTES;
      const bytes = await running.readLog(offset, MAX_STEP_BYTES);
      const whole = isSkipping ? fromCharacterStart(bytes) : bytes;
      offset += bytes.length - whole.length;
      for (const frame of frames(whole)) {
        if (signal.aborted) return;
        progress({ bytes: frame, offset });
        offset += frame.length;
      }
    }
  } catch (error) {
    // The sleep is cut short when nobody waits for the command any more.
    if (!signal.aborted) logger.debug({ error }, "cannot report the output of a running command");
  }
}

/** Pieces up to the last complete character; the rest comes with the next step. */
function* frames(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  let start = 0;
  while (start < bytes.length) {
    const end = characterEnd(bytes, Math.min(bytes.length, start + MAX_FRAME_BYTES));
    if (end <= start) return;
    yield bytes.subarray(start, end);
    start = end;
  }
}

/** The last border of two characters at or before `end`. Bytes that are no UTF-8 may be cut anywhere. */
function characterEnd(bytes: Uint8Array, end: number): number {
  for (let back = 1; back <= 4 && end - back >= 0; back++) {
    const byte = bytes[end - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? end - back : end;
  }
  return end;
}
