/** Runs `action` once when the signal aborts, at once if it has; disposing the result takes the listener away. */
export function whenAborted(signal: AbortSignal, action: () => void): Disposable {
  if (signal.aborted) action();
  else signal.addEventListener("abort", action, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", action) };
}
