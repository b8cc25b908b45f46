import { resolve } from "node:path";
import { TriviumError } from "@trivium/core";
import { serverEnvironment } from "../../mcp/server-environment.ts";
import type { ProgramEnd, ProgramInput, RunningProgram } from "../../process/program-runner.ts";
import type { SessionScope } from "../../session-resource.ts";
import { shorten } from "../../shorten.ts";
import type { LspServerConfig } from "../config/lsp-server-config.ts";
import type { ServerChannel } from "./server-channel.ts";
import { SocketListener } from "./socket-listener.ts";

/** What the start of a server's program needs from the session. */
export type ChannelScope = Pick<
  SessionScope,
  "programRunner" | "sessionDirectory" | "environment" | "settings" | "secretVariables"
>;

/**
 * Starts the program of a server in the session's folder, with everything it starts under supervision.
 *
 * @throws {@link TriviumError} of the program runner; `unavailable` when it ends before it has connected; the reason of
 * `signal`, which is of no account after that.
 */
export async function openChannel(
  scope: ChannelScope,
  config: LspServerConfig,
  signal: AbortSignal,
): Promise<ServerChannel> {
  if (config.transport === "stdio") {
    const { program, input } = await startProgram(scope, config, { args: config.args, signal });
    return {
      ...endsOf(program),
      output: program.stdout,
      write: (bytes) => input.write(bytes),
      endInput: () => input.end(),
    };
  }
  await using listener = await SocketListener.open();
  const args = [...config.args, `--socket=${listener.port}`];
  const { program } = await startProgram(scope, config, { args, signal });
  void drain(program.stdout);
  const ends = endsOf(program);
  const endedEarly = ends.ended.then((reason) => {
    throw new TriviumError("unavailable", `it ended before it had connected: ${reason}`);
  });
  try {
    const socket = await Promise.race([listener.accept(signal), endedEarly]);
    return {
      ...ends,
      ...socket,
      async stop() {
        socket.destroy();
        await ends.stop();
      },
    };
  } catch (thrown) {
    await ends.stop();
    throw thrown;
  }
}

interface TalkingProgram {
  readonly program: RunningProgram;
  readonly input: ProgramInput;
}

async function startProgram(
  { programRunner, sessionDirectory, ...scope }: ChannelScope,
  { command, env }: LspServerConfig,
  { args, signal }: { readonly args: readonly string[]; readonly signal: AbortSignal },
): Promise<TalkingProgram> {
  const program = await programRunner.run({
    argv: [command.includes("/") ? resolve(sessionDirectory, command) : command, ...args],
    workingDirectory: sessionDirectory,
    env: serverEnvironment(scope, env),
    input: "pipe",
    signal,
  });
  const { input } = program;
  if (input !== undefined) return { program, input };
  await program.stop();
  throw new TriviumError("internal", "the program of a language server has no input");
}

function endsOf(program: RunningProgram): Pick<ServerChannel, "ended" | "stop"> {
  return {
    ended: program.ended.then(reasonOf),
    async stop() {
      await program.stop();
    },
  };
}

function reasonOf({ exitCode, signal, stderr }: ProgramEnd): string {
  const how = signal === null ? `exit code ${exitCode ?? "unknown"}` : `signal ${signal}`;
  const lastLines = Buffer.from(stderr).toString().trim().slice(-500);
  return lastLines === "" ? how : `${how}: ${shorten(lastLines, 500)}`;
}

async function drain(stream: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of stream);
}
