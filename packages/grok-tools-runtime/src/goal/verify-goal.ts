import { realpath } from "node:fs/promises";
import {
  BUBBLEWRAP,
  bubblewrapOptions,
  mountOptions,
  NO_NETWORK,
  usualMounts,
} from "../process/bubblewrap.ts";
import { buildShellEnvironment } from "../shell/shell-environment.ts";
import type { ToolContext } from "../tool.ts";
import { goalFailure } from "./goal-failure.ts";

/** What a verifier said. */
export interface Verdict {
  readonly isAchieved: boolean;
  /** Why not: how the command ended and the end of what it printed. */
  readonly reason: string;
}

/** A verifier that takes longer has not said yes. */
const TIMEOUT_MS = 10 * 60_000;
/** Bytes of a verifier's output that the model sees: the end, where the failures are. */
const SHOWN_BYTES = 4_000;

/**
 * Runs the command that decides whether a goal is reached, in the session's folder and in the sandbox of the server,
 * whoever has configured the command.
 *
 * @throws {@link ToolError} `goal_update_harness_disabled` when that sandbox does not work; {@link TriviumError} when it
 * cannot be run; the reason of the call's signal.
 */
export async function verifyGoal(command: string, context: ToolContext): Promise<Verdict> {
  const { programRunner, environment, settings, secretVariables, sessionDirectory, signal } = context;
  const run = await programRunner.run({
    argv: await toArguments(command, context),
    workingDirectory: sessionDirectory,
    env: buildShellEnvironment({ server: environment, policy: settings.environment, secretVariables }),
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  let tail = Buffer.alloc(0);
  for await (const chunk of run.stdout) {
    tail = Buffer.concat([tail, chunk]).subarray(-SHOWN_BYTES);
  }
  const end = await run.ended;
  signal.throwIfAborted();
  if (end.exitCode === 0) return { isAchieved: true, reason: "" };
  const how =
    end.reason === "timed-out"
      ? `no result within ${TIMEOUT_MS / 60_000} minutes`
      : end.exitCode === null
        ? `ended by ${end.signal ?? "an unknown cause"}`
        : `exit code ${end.exitCode}`;
  const output = tail.toString("utf8").trim();
  return { isAchieved: false, reason: output === "" ? how : `${how}\n${output}` };
}

async function toArguments(
  command: string,
  { settings, commandRunner, sessionDirectory, dataDir }: ToolContext,
): Promise<[string, ...string[]]> {
  const shell: [string, ...string[]] = ["/bin/sh", "-c", `exec 2>&1\n${command}`];
  if (settings.sandbox !== "bwrap") return shell;
  const { bubblewrap } = await commandRunner.containment();
  if (!bubblewrap) {
    throw goalFailure(
      "goal_update_harness_disabled",
      "the verifier is to run inside bubblewrap, but it does not work on this machine",
      { retryable: true },
    );
  }
  const mounts = mountOptions([
    ...usualMounts,
    { path: await realpath(dataDir), kind: "--tmpfs" },
    { path: sessionDirectory, kind: "--bind" },
  ]);
  const network = settings.sandboxNetwork ? [] : [NO_NETWORK];
  return [BUBBLEWRAP, ...network, ...bubblewrapOptions, ...mounts, "--chdir", sessionDirectory, ...shell];
}
