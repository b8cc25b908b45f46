import type { CallOptions } from "../execute/call-options.ts";
import type { Subagents } from "./subagents.ts";

/** The children of a session for one call: those it starts are held to what the call itself was held to. */
export function authorisedSubagents(subagents: Subagents, authorise: CallOptions["authorise"]): Subagents {
  if (authorise === undefined) return subagents;
  return {
    get host() {
      return subagents.host;
    },
    start: (request, signal) => subagents.start({ ...request, authorise }, signal),
    get: (id) => subagents.get(id),
    list: () => subagents.list(),
    types: () => subagents.types(),
  };
}
