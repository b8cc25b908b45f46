import { noHost } from "./subagent-errors.ts";
import type { Subagents } from "./subagents.ts";

/** A session that nobody runs children for. */
export const noSubagents: Subagents = {
  host: undefined,
  start: () => Promise.reject(noHost()),
  get: () => undefined,
  list: () => [],
  types: () => Promise.resolve([]),
};
