/**
 * For the sibling packages that build other tools on the same files, search and processes. Not for users.
 *
 * @internal
 */
export { EditEngine, processPathLocks } from "./files/edit-engine/edit-engine.ts";
export { WriteJournal } from "./files/edit-engine/write-journal.ts";
export { FileReadTracker } from "./files/file-read-tracker.ts";
export { LineIndexCache } from "./files/line-index-cache.ts";
export { WorkspaceFiles, type WorkspaceFilesOptions } from "./files/workspace-files.ts";
export type { WorkspaceFailure, WorkspaceResult } from "./files/workspace-result.ts";
export { startMcpProcess } from "./mcp/start-mcp-process.ts";
export { type AddressClass, classifyAddress } from "./net/address-class.ts";
export {
  type HostCheck,
  pinnedLookup,
  type ResolveHost,
  resolveChecked,
  systemResolver,
} from "./net/host-lookup.ts";
export type { CallbackLink, CallbackTarget, SentNotification } from "./notifications/callback-dialer.ts";
export type { Command, CommandEnd, CommandRunner, OutputStream } from "./process/command-runner.ts";
export { WorkspaceSearch, type WorkspaceSearchOptions } from "./search/workspace-search.ts";
export { buildShellEnvironment } from "./shell/shell-environment.ts";
export { findSkills } from "./skills/find-skills.ts";
export { loadSkill } from "./skills/load-skill.ts";
export type { Skill } from "./skills/skill.ts";
export { MAX_SKILLS } from "./skills/skill-registry.ts";
export { sessionFolder } from "./state/session-folder.ts";
export type { EnvironmentPolicy } from "./tool-settings.ts";
export { searchWeb } from "./web/search/search-web.ts";
