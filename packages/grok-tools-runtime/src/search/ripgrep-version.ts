import { TriviumError } from "@trivium/core";
import type { ProgramRunner } from "../process/program-runner.ts";
import { ripgrepEnvironment, ripgrepProgram } from "./ripgrep-program.ts";

/** Where to find ripgrep, and when to give up. */
export interface RipgrepVersionOptions {
  /** Absolute path; default: the ripgrep of the package, else the one in the `PATH`. */
  readonly rgPath?: string | undefined;
  /** Variables for the program, of which it gets `PATH`. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 5000;

/**
 * The first line of `rg --version`, for example `ripgrep 15.0.0`.
 *
 * @throws {@link TriviumError} `notFound` when there is no ripgrep, `unavailable` when it does not answer.
 */
export async function ripgrepVersion(
  programs: ProgramRunner,
  { rgPath, environment = {}, signal }: RipgrepVersionOptions,
): Promise<string> {
  const path = await ripgrepProgram(rgPath);
  const program = await programs.run({
    argv: [path, "--no-config", "--version"],
    workingDirectory: "/",
    env: ripgrepEnvironment({ environment }),
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of program.stdout) chunks.push(chunk);
  const { reason, exitCode } = await program.ended;
  signal.throwIfAborted();
  if (reason !== "exited" || exitCode !== 0) {
    throw new TriviumError(
      "unavailable",
      `${path} does not tell its version (exit code ${exitCode ?? "none"})`,
    );
  }
  return Buffer.concat(chunks).toString("utf8").split("\n")[0] ?? "";
}
