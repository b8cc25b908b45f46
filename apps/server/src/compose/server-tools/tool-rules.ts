import type { ServerToolsRequest } from "@trivium/code-mode-host";
import type { SessionGate } from "@trivium/crabcode-runtime";
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
const PATH_PARAMETERS = [
  "target_file",
  "target_directory",
  "dir_path",
  "file_path",
  "filePath",
  "path",
  "script_path",
  "workdir",
  "cwd",
];

/** Parameters that hold a patch, which names its files in its own lines. */
const PATCH_PARAMETERS = ["patch", "input"];
const PATCH_HEADERS = ["*** Add File: ", "*** Delete File: ", "*** Update File: ", "*** Move to: "];

/** What calls of one session are judged with besides the rules. */
export interface ToolRulesOptions extends Pick<ServerToolsRequest, "isReadOnly"> {
  /** The conversation whose permissions hold too, and whose people are asked. Absent: nobody can be asked. */
  readonly gate?: SessionGate | undefined;
}

/**
 * Judges calls of one session: reading only, then the rules: deny, ask, allow, then the permissions of the conversation.
 * What a rule would ask about is denied where nobody can be asked.
 */
export function createToolRules(rules: ToolRules, { isReadOnly, gate }: ToolRulesOptions): Authorise {
  return async (call) => {
    if (isReadOnly && !call.isReadOnly) return "this session may only use tools that change nothing";
    const { toolName, input, workingDirectory } = call;
    // Every one is judged: a tool reads its own parameter and passes over the others, which may be there to mislead.
    const written = PATH_PARAMETERS.map((name) => input[name]).filter((value) => typeof value === "string");
    const patched = PATCH_PARAMETERS.flatMap((name) => pathsOfPatch(input[name]));
    const targets = await Promise.all([...written, ...patched].map((path) => call.resolvePath(path)));
    const policy = new PermissionPolicy(
      // Allow rules come after the others and allow what is allowed without them.
      { ...rules, allow: [], mode: "default", additionalDirectories: [], requestTimeoutMs: 0 },
      workingDirectory,
    );
    const behaviors = (targets.length === 0 ? [undefined] : targets).map(
      (targetPath) => policy.decide({ tool: toolName, isReadOnly: true, input, targetPath }).behavior,
    );
    if (behaviors.includes("deny")) return `a rule of this server denies ${toolName} here`;
    const wish = behaviors.includes("ask") ? "ask" : "allow";
    if (gate !== undefined) {
      return await gate.permit({
        toolUseId: call.callId,
        tool: toolName,
        input,
        isReadOnly: call.isReadOnly,
        runsCommands: call.kind === "execute" || call.kind === "monitor",
        targetPaths: targets,
        wish,
        signal: call.signal,
      });
    }
    if (wish === "allow") return undefined;
    return `a rule of this server has ${toolName} asked about here, and there is nobody to ask`;
  };
}

/** Every line that could be a header counts, so that no reading of the patch has a file that was not judged. */
function pathsOfPatch(patch: unknown): string[] {
  if (typeof patch !== "string") return [];
  return patch.split("\n").flatMap((line) => {
    const header = line.trim();
    const prefix = PATCH_HEADERS.find((start) => header.startsWith(start));
    return prefix === undefined ? [] : [header.slice(prefix.length)];
  });
}
