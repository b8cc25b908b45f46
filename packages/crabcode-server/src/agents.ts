import { CrabcodeError } from "@trivium/crabcode-runtime";

/** Answers the five RPCs of managed agents: this release has none. */
export function agentsNotBuilt(): Promise<never> {
  return Promise.reject(new CrabcodeError("NOT_IMPLEMENTED", "managed agents are not part of this release"));
}
