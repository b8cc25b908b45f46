import type { ServerToolsRequest } from "@trivium/code-mode-host";
import { PermissionPolicy, type PermissionRule } from "@trivium/crabcode-runtime/internal";
import type { AuthorisationRequest } from "@trivium/grok-tools-runtime";

/** Rules for calls of programs, in the grammar of the permissions of conversations. */
export interface ToolRules {
  readonly deny: readonly PermissionRule[];
  readonly ask: readonly PermissionRule[];
  /** Says in so many words what holds anyway: without a rule a call is allowed. */
  readonly allow: readonly PermissionRule[];
}

/** Gives why a call may not be made, or nothing. */
export type Authorise = (request: AuthorisationRequest) => Promise<string | undefined>;

/** Parameters of tools that name the file or folder they work on. */
const PATH_PARAMETERS = ["target_file", "target_directory", "file_path", "filePath", "path"];

/**
 * Judges calls of one session: reading only, then the rules: deny, ask, allow. Nobody can be asked, so what a rule would
 * ask about is denied.
 */
export function createToolRules(
  rules: ToolRules,
  { isReadOnly }: Pick<ServerToolsRequest, "isReadOnly">,
): Authorise {
  return async (call) => {
    if (isReadOnly && !call.isReadOnly) return "this session may only use tools that change nothing";
    const { toolName, input, workingDirectory } = call;
    const written = PATH_PARAMETERS.map((name) => input[name]).find((value) => typeof value === "string");
    const targetPath = typeof written === "string" ? await call.resolvePath(written) : undefined;
    const policy = new PermissionPolicy(
      // Allow rules come after the others and allow what is allowed without them.
      { ...rules, allow: [], mode: "default", additionalDirectories: [], requestTimeoutMs: 0 },
      workingDirectory,
    );
    const { behavior } = policy.decide({ tool: toolName, isReadOnly: true, input, targetPath });
    if (behavior === "allow") return undefined;
    if (behavior === "deny") return `a rule of this server denies ${toolName} here`;
    return `a rule of this server has ${toolName} asked about here, and there is nobody to ask`;
  };
}
