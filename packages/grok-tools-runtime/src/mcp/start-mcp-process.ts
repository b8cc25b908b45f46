import { TriviumError } from "@trivium/core";
import type { ServerProcess, ServerProcessEnd, StartServerProcess } from "@trivium/mcp";
import type { ProgramEnd } from "../process/program-runner.ts";
import type { SessionScope } from "../session-resource.ts";
import { type ServerEnvironmentSources, serverEnvironment } from "./server-environment.ts";

/** Starts the programs of MCP servers in the session's folder, each with everything it starts under supervision. */
export function startMcpProcess(
  scope: Pick<SessionScope, "programRunner" | "sessionDirectory"> & ServerEnvironmentSources,
): StartServerProcess {
  return async (name, { command, args = [], env }, signal): Promise<ServerProcess> => {
    const program = await scope.programRunner.run({
      argv: [command, ...args],
      workingDirectory: scope.sessionDirectory,
      env: serverEnvironment(scope, env),
      input: "pipe",
      signal,
    });
    const { input, stdout, ended } = program;
    if (input === undefined) {
      await program.stop();
      throw new TriviumError("internal", `the program of the MCP server ${name} has no input`);
    }
    return {
      output: stdout,
      write: (bytes) => input.write(bytes),
      endInput: () => input.end(),
      ended: ended.then(toServerEnd),
      stop: async () => toServerEnd(await program.stop()),
    };
  };
}

function toServerEnd({ exitCode, signal, stderr }: ProgramEnd): ServerProcessEnd {
  return { exitCode, signal, errorOutput: Buffer.from(stderr).toString() };
}
