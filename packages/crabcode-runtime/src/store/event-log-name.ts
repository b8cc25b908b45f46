/** The name of the log with the events of a session. */
export function eventLogName(sessionId: string): string {
  return `crabcode-${sessionId}`;
}
