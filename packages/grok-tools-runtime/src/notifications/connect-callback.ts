import { type Clock, type Logger, linkSignals, TriviumError } from "@trivium/core";
import type { CallbackLink } from "./callback-dialer.ts";

/** Longest time finalize waits for the connection. */
const CONNECT_MS = 5_000;

/** Whether the client's callback service was reached. Contract: CallbackStatus */
export interface CallbackStatus {
  readonly isConnected: boolean;
  /** What it is used for. */
  readonly activeSurfaces: readonly ("notifications" | "subagents")[];
  /** Why not. */
  readonly message: string | undefined;
}

/** What finalize knows when it connects. */
export interface ConnectContext {
  /** A tool of the session can start subagents. */
  readonly usesSubagents: boolean;
  /** A service that cannot be reached is an error. */
  readonly required: boolean;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Connects to the callback service of a client.
 *
 * @throws {@link TriviumError} `unavailable` when that is required and fails; the reason of the signal.
 */
export async function connectCallback(link: CallbackLink, context: ConnectContext): Promise<CallbackStatus> {
  const { usesSubagents, required, signal, clock, logger } = context;
  using limit = linkSignals([signal], { timeoutMs: CONNECT_MS, clock });
  try {
    await link.connect(limit.signal);
    return {
      isConnected: true,
      activeSurfaces: usesSubagents ? ["notifications", "subagents"] : ["notifications"],
      message: undefined,
    };
  } catch (cause) {
    signal.throwIfAborted();
    const message = messageOf(cause, limit.signal);
    logger.warn({ cause }, "the callback service of a client cannot be reached");
    if (required)
      throw new TriviumError("unavailable", `the callback service cannot be reached: ${message}`, { cause });
    return { isConnected: false, activeSurfaces: [], message };
  }
}

function messageOf(cause: unknown, limit: AbortSignal): string {
  if (limit.aborted) return `no connection within ${CONNECT_MS} ms`;
  return TriviumError.isInstance(cause) ? cause.message : "the connection failed unexpectedly";
}
