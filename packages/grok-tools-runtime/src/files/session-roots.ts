import type { SessionScope } from "../session-resource.ts";
import type { Roots } from "./path-jail.ts";

/** Folders a session may read: its roots and its own folder with logs and artefacts. */
export function readableRoots({
  workspaceRoots,
  sessionFolder,
}: Pick<SessionScope, "workspaceRoots" | "sessionFolder">): Roots {
  return workspaceRoots === undefined ? undefined : [...workspaceRoots, sessionFolder];
}
