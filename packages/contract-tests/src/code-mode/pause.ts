/** Real time of a recorded sequence. */
export function pause(timeMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, timeMs);
  });
}
