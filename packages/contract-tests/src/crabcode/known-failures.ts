/**
 * Conversations that this implementation does not follow, each with what is missing. One that passes must go. Empty: it
 * follows all of them.
 */
export const knownFailures: Readonly<Record<string, string>> = {};
