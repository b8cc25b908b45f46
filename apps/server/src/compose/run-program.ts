import { realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import { TriviumError } from "@trivium/core";
import type { RunProgram } from "@trivium/crabcode-runtime";
import type { ProgramRunner } from "@trivium/grok-tools-runtime";
import { buildShellEnvironment, type EnvironmentPolicy } from "@trivium/grok-tools-runtime/internal";

/** What programs are run with. */
export interface RunProgramOptions {
  readonly programs: ProgramRunner;
  readonly policy: EnvironmentPolicy;
  /** Variables that hold keys; programs never get them. */
  readonly secretVariables: readonly string[];
  /** Variables of the server, of which programs inherit by policy. */
  readonly server: Readonly<Record<string, string | undefined>>;
}

/** Runs programs for the conversations, outside the server's process. */
export function createRunProgram({
  programs,
  policy,
  secretVariables,
  server,
}: RunProgramOptions): RunProgram {
  return async ({ argv, workingDirectory, input, timeoutMs, maxOutputBytes, signal, ...request }) => {
    const inherited = buildShellEnvironment({ server, policy, secretVariables });
    const env = { ...withoutGit(inherited), ...request.environment };
    if (request.distrustedFolders !== undefined) {
      env["PATH"] = await pathWithout(request.distrustedFolders, env["PATH"] ?? "");
    }
    const program = await programs.run({
      argv,
      workingDirectory,
      env,
      timeoutMs,
      signal,
      ...(input !== undefined && { input: "pipe" as const }),
    });
    if (program.input !== undefined && input !== undefined) {
      // A program that does not read all of it ends all the same.
      void program.input.write(input);
      program.input.end();
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of program.stdout) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= maxOutputBytes) continue;
      await program.stop();
      throw new TriviumError("resourceExhausted", `${argv[0]} printed more than ${maxOutputBytes} bytes`);
    }
    const { reason, exitCode, stderr } = await program.ended;
    signal?.throwIfAborted();
    if (reason !== "exited" || exitCode === null) {
      const why = reason === "timed-out" ? `ran longer than ${timeoutMs} ms` : `was ended (${reason})`;
      throw new TriviumError("unavailable", `${argv[0]} ${why}`);
    }
    return { exitCode, stdout: Buffer.concat(chunks), stderr: new TextDecoder().decode(stderr) };
  };
}

/** A server that was started by git would send ours to another repository. */
function withoutGit(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("GIT_")));
}

/** A server that `npx` has started in a workspace has programs of that workspace in its search path. */
async function pathWithout(folders: readonly string[], searchPath: string): Promise<string> {
  const distrusted = await Promise.all(folders.map(resolved));
  const kept: string[] = [];
  for (const entry of searchPath.split(":")) {
    if (!isAbsolute(entry)) continue;
    const place = await resolved(entry);
    if (!distrusted.some((folder) => isInside(folder, place))) kept.push(entry);
  }
  return kept.join(":");
}

/** Where a folder is; as it is written when there is none. */
async function resolved(folder: string): Promise<string> {
  return await realpath(folder).catch(() => folder);
}

function isInside(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside !== ".." && !inside.startsWith(`..${sep}`);
}
