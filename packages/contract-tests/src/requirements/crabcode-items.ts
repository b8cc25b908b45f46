/**
 * Mistakes of an earlier implementation of the crabcode contract that must not come back. Each has a test whose name
 * begins with, or holds, `item <number>: `.
 */
export const crabcodeItems: Readonly<Record<number, string>> = {
  1: "statuses are numbers of HTTP",
  2: "a turn over gRPC is invisible to subscribers",
  3: 'a subscription to "" delivers nothing',
  4: "turns of one session run through each other",
  5: "an answer goes to the wrong question; the agent it is for is forgotten",
  6: "an allow beats a deny rule or plan mode",
  7: '"always" for one command allows every command',
  8: "a rule fits calls without its argument, or compound commands",
  9: "the end of an agent's run ends its parent's turn and overwrites its messages",
  10: "an agent that failed counts as completed",
  11: "an error or a crash loses the whole turn",
  12: "the results of one step stand in several messages, out of order",
  13: "thinking goes back to the provider without its signature",
  14: "the usage of a provider is not counted",
  15: "an interrupt is noted and never looked at",
  16: "the queue of a slow subscriber grows without end",
  17: "no session gets a title",
  18: "an unknown type of agent gets tools that write",
  19: "a snapshot goes through the index of the user's repository",
  20: "a rollback is forgotten when the session is loaded again",
  21: "a call whose arguments are broken runs without arguments",
  22: "settings of a project are trusted without asking",
};
