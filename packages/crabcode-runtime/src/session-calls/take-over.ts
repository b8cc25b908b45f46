import { findTranscripts, readIndex } from "../import/read-upstream.ts";
import { SessionImporter } from "../import/session-importer.ts";
import type { SessionCallDeps } from "./session-call-deps.ts";

/**
 * Copies a session of upstream that a client wants to go on with into our own folder. Nothing happens when there is
 * none of that id, or it cannot work here.
 */
export async function takeOver(
  { registry, index, settings, database, transcripts, environment, workspaceRoots, removal }: SessionCallDeps,
  sessionId: string,
): Promise<void> {
  const { userFolder } = settings;
  if (userFolder === undefined || transcripts === undefined) return;
  // Without the folder there is nothing to take over.
  const files = await findTranscripts(userFolder).catch(() => []);
  const file = files.find((found) => found.sessionId === sessionId);
  if (file === undefined) return;
  const { logger, ids } = environment;
  const known = (await readIndex(userFolder, logger)).get(sessionId) ?? {};
  const importer = new SessionImporter({ database, index, transcripts, roots: workspaceRoots, ids });
  for (;;) {
    await registry.settled(sessionId);
    await removal.finish(sessionId);
    registry.assertOpen();
    // Another call may have been faster.
    if (index.find(sessionId) !== undefined) return;
    const taken = registry.exclusively(sessionId, () => importer.import(file, known));
    if (taken === undefined) continue;
    const { outcome, problem } = await taken;
    if (outcome === "refused")
      logger.warn({ sessionId, problem }, "a session of upstream was not taken over");
    return;
  }
}
