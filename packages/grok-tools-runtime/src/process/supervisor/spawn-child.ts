import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { statSync } from "node:fs";
import type { SpawnFailure } from "./message.ts";

export interface ChildSpec {
  readonly argv: readonly [string, ...string[]];
  readonly workingDirectory: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a program in a session of its own, or says why it cannot be started. */
export async function spawnChild(spec: ChildSpec, stdio: StdioOptions): Promise<ChildProcess | SpawnFailure> {
  const { argv, workingDirectory: cwd, env } = spec;
  // A missing folder would be reported as a missing program.
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return {
      kind: "missing-folder",
      message: `the working directory ${cwd} does not exist or is not a folder`,
    };
  }
  const [program, ...programArguments] = argv;
  let child: ChildProcess;
  try {
    child = spawn(program, programArguments, { cwd, env, stdio, detached: true });
  } catch (error) {
    // Too large or malformed arguments are thrown, everything else comes as an event.
    return failureOf(error, program);
  }
  if (child.pid !== undefined) return child;
  return await new Promise((resolve) => {
    child.once("error", (error) => resolve(failureOf(error, program)));
  });
}

/** Distinguishes the two results of {@link spawnChild}. */
export function isSpawnFailure(result: ChildProcess | SpawnFailure): result is SpawnFailure {
  return "kind" in result;
}

function failureOf(error: unknown, program: string): SpawnFailure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  switch (code) {
    case "ENOENT":
      return { kind: "missing-program", message: `there is no program ${program}` };
    case "E2BIG":
      return {
        kind: "bad-argument",
        message: "arguments and environment exceed what the system takes (about 2 MiB)",
      };
    case "ERR_INVALID_ARG_VALUE":
      return {
        kind: "bad-argument",
        message: "an argument, the folder or the environment holds a NUL character",
      };
    default:
      return { kind: "refused", message: `the system refused to start ${program}: ${code}` };
  }
}
