/** What the main loop runs has this long to end after an interrupt, so that the turn ends within a second. */
export const STOP_GRACE_MS = 900;
