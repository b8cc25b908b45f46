import { accessSync, constants, mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { BUBBLEWRAP, bubblewrapOptions, mountOptions, NO_NETWORK, usualMounts } from "./bubblewrap.ts";
import type { Containment } from "./command-runner.ts";
import type { Helper } from "./helper.ts";
import type { ProgramRunner } from "./program-runner.ts";

const CGROUP_ROOT = "/sys/fs/cgroup";
const PROBE_LIMIT_MS = 2000;

/** Tries which layers this machine offers. Only the subreaper is used by itself; the others are reported. */
export async function detectContainment(guardian: Helper, programs: ProgramRunner): Promise<Containment> {
  const subreaper = guardian.isSubreaper;
  const cgroup = canMakeCgroup();
  const bubblewrap = await canRunBubblewrap(programs);
  const landlock = guardian.landlockVersion > 0;
  const active = subreaper
    ? "subreaper: every process of a command is found and ended"
    : "marker scan: a double-forked process that clears its environment and closes its output is missed";
  const others = [cgroup && "cgroup v2", bubblewrap && "bubblewrap", landlock && "Landlock"].filter(Boolean);
  const summary = `${active}; available: ${others.length === 0 ? "nothing else" : others.join(", ")}`;
  return { subreaper, cgroup, bubblewrap, landlock, summary };
}

function canMakeCgroup(): boolean {
  const probe = join(CGROUP_ROOT, `trivium-probe-${process.pid}`);
  try {
    accessSync(join(CGROUP_ROOT, "cgroup.controllers"), constants.R_OK);
    mkdirSync(probe);
    rmdirSync(probe);
    return true;
  } catch {
    // No version 2 hierarchy, or none that we may write.
    return false;
  }
}

async function canRunBubblewrap(programs: ProgramRunner): Promise<boolean> {
  try {
    const probe = await programs.run({
      // As commands will be run: a container may allow one of these and not another.
      argv: [BUBBLEWRAP, NO_NETWORK, ...bubblewrapOptions, ...mountOptions(usualMounts), "true"],
      workingDirectory: "/",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
      timeoutMs: PROBE_LIMIT_MS,
    });
    const { reason, exitCode } = await probe.ended;
    return reason === "exited" && exitCode === 0;
  } catch {
    // Not installed.
    return false;
  }
}
