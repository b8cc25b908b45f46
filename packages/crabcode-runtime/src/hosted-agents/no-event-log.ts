import type { Clock, EventLog } from "@trivium/core";

/** Numbers events and keeps none: nobody reads those of an agent that belongs to no session. */
export function noEventLog(clock: Clock): EventLog {
  let lastSeq = 0;
  return {
    get bounds() {
      return { epoch: "", firstSeq: lastSeq + 1, lastSeq };
    },
    append: () => Promise.resolve({ seq: ++lastSeq, atMs: clock.now(), data: "" }),
    readFrom: () => Promise.resolve([]),
    async *tail() {},
    prune: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
