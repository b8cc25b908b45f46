import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Clock, IdSource, Logger } from "@trivium/core";
import type { RunProgram } from "../ports/program-port.ts";
import type { OnSessionRemoved } from "../store/session-removal.ts";
import { CheckpointStore } from "./checkpoint-store.ts";
import { Snapshots } from "./files/snapshots.ts";
import type { CheckpointEnvironment } from "./session-checkpoints.ts";

/** What the checkpoints of a server are made of. */
export interface OpenCheckpointsOptions {
  readonly database: DatabaseSync;
  /** Absent: no program can be run. */
  readonly run: RunProgram | undefined;
  /** Folder of all data; absent: nothing is kept on disk. */
  readonly dataDir: string | undefined;
  /** Told of each session that is deleted. */
  readonly onSessionDeleted: OnSessionRemoved[];
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}

/** Opens the checkpoints of a server. What they kept of a session goes with it. */
export function openCheckpoints(options: OpenCheckpointsOptions): CheckpointEnvironment {
  const { database, run, dataDir, onSessionDeleted, clock, ids, logger } = options;
  const snapshots = new Snapshots({
    run,
    folder: dataDir === undefined ? undefined : join(realpathSync(dataDir), "crabcode", "snapshots"),
    dataFolder: dataDir === undefined ? "" : realpathSync(dataDir),
    logger,
  });
  onSessionDeleted.push((session) => snapshots.forgetSession(session));
  return { store: new CheckpointStore(database), snapshots, clock, ids, inUse: new Set() };
}
