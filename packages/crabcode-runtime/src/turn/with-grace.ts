import { abortable, type Clock, sleep } from "@trivium/core";

/**
 * The value of something that stops by itself when its signal aborts; undefined when it had not ended `stopGraceMs`
 * after that. A late end is nobody's business any more.
 *
 * @throws what `running` throws while the signal has not aborted
 */
export async function withGrace<Value>(
  { clock, stopGraceMs }: { readonly clock: Clock; readonly stopGraceMs: number },
  running: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  try {
    return await abortable(running, signal);
  } catch (cause) {
    if (!signal.aborted) throw cause;
    const stopped = new AbortController();
    const grace = sleep(clock, stopGraceMs, stopped.signal).catch(() => undefined);
    // It may end with its abort, which is what was asked for.
    const ended = running.catch(() => undefined);
    const value = await Promise.race([ended, grace]);
    stopped.abort();
    return value ?? undefined;
  }
}
