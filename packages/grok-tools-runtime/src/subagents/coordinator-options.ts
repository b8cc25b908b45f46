import type { SessionScope } from "../session-resource.ts";
import type { SubagentTypes } from "./definitions/subagent-types.ts";
import type { RunContext } from "./run-child.ts";
import type { SubagentLimits } from "./subagent-limits.ts";
import type { SubagentRunner } from "./subagent-runner.ts";

/** What the children of a session are run with. */
export interface CoordinatorOptions extends Pick<RunContext, "tools" | "host" | "session"> {
  readonly scope: RunContext["scope"] &
    Pick<
      SessionScope,
      "ids" | "notify" | "toolName" | "configuredTools" | "workspaceRoots" | "sessionSignal"
    >;
  /** The first that applies; undefined: nobody. */
  readonly runner: { readonly kind: "callback" | "local"; readonly runner: SubagentRunner } | undefined;
  readonly types: SubagentTypes;
  readonly limits: SubagentLimits;
}
