/** The reason of an aborted signal as an Error; other values are wrapped, so that a rejection is never a bare value. */
export function abortReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new DOMException(String(reason), "AbortError");
}
