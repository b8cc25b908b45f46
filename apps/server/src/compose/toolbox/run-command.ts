import { rm } from "node:fs/promises";
import { join } from "node:path";
import { randomIds, TriviumError } from "@trivium/core";
import type { ToolboxPort } from "@trivium/crabcode-runtime";
import type {
  Command,
  CommandEnd,
  CommandRunner,
  EnvironmentPolicy,
  OutputStream,
} from "@trivium/grok-tools-runtime/internal";
import { buildShellEnvironment } from "@trivium/grok-tools-runtime/internal";
import { keptText, utf8BytesOf } from "./kept-text.ts";

/** What commands of one toolbox are run with. */
export interface RunCommandOptions {
  readonly runner: CommandRunner;
  readonly policy: EnvironmentPolicy;
  /** Variables that hold keys; commands never get them. */
  readonly secretVariables: readonly string[];
  /** Variables of the server, of which commands inherit by policy. */
  readonly server: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Exists; holds the logs of running commands. */
  readonly logFolder: string;
}

type RunCommand = ToolboxPort["runCommand"];

/** Runs commands for a conversation; disposing it kills those that still run. */
export function createRunCommand(options: RunCommandOptions): AsyncDisposable & { readonly run: RunCommand } {
  const live = new Set<Command>();
  const run: RunCommand = async (request) => {
    const logPath = join(options.logFolder, randomIds.hex(8));
    const stderrLogPath = `${logPath}.err`;
    const keptBytes = utf8BytesOf(request.maxOutputChars);
    let command: Command;
    try {
      request.signal.throwIfAborted();
      command = await options.runner.start({
        argv: ["bash", "-c", request.command],
        workingDirectory: options.workingDirectory,
        stdin: request.input,
        env: buildShellEnvironment({
          server: options.server,
          policy: options.policy,
          secretVariables: options.secretVariables,
          extra: request.environment,
        }),
        timeoutMs: request.timeoutMs,
        timeoutGraceMs: 500,
        logPath,
        stderrLogPath,
        headBytes: keptBytes,
        tailBytes: keptBytes,
      });
    } catch (thrown) {
      if (!TriviumError.isInstance(thrown)) throw thrown;
      return {
        kind: "failure",
        code: thrown.kind === "invalidInput" ? "invalid" : "unavailable",
        message: thrown.message,
      };
    }
    live.add(command);
    const onAbort = (): void => void command.kill("cancelled", 500);
    request.signal.addEventListener("abort", onAbort, { once: true });
    if (request.signal.aborted) onAbort();
    try {
      const forwarding = forward(command, request);
      const end = await command.ended;
      await forwarding;
      request.signal.throwIfAborted();
      if (end.spawnError !== undefined) return { kind: "failure", code: "invalid", message: end.spawnError };
      return toResult(
        end,
        await keptOf(command, request.maxOutputChars),
        await keptOf(command.stderr, request.maxOutputChars),
      );
    } finally {
      request.signal.removeEventListener("abort", onAbort);
      live.delete(command);
      await command.release();
      await Promise.all([logPath, stderrLogPath].map((path) => rm(path, { force: true })));
    }
  };
  return {
    run,
    async [Symbol.asyncDispose]() {
      await Promise.all([...live].map((command) => command.kill("session-ended", 0)));
    },
  };
}

type Kept = ReturnType<typeof keptText>;

function toResult(end: CommandEnd, stdout: Kept, stderr: Kept) {
  return {
    kind: "ok" as const,
    stdout: stdout.text,
    stderr: stderr.text,
    exitCode: end.reason === "exited" ? end.exitCode : null,
    signal: end.signal ?? (end.reason === "exited" ? null : end.reason),
    isTimedOut: end.reason === "timed-out",
    isTruncated: stdout.isTruncated || stderr.isTruncated,
  };
}

async function keptOf(stream: OutputStream | undefined, maxChars: number): Promise<Kept> {
  return stream === undefined ? { text: "", isTruncated: false } : keptText(await stream.output(), maxChars);
}

/** Hands output on as it comes, when somebody wants it. Each stream has a decoder of its own. */
async function forward(command: Command, { onChunk, signal }: Parameters<RunCommand>[0]): Promise<void> {
  if (onChunk === undefined) return;
  const pump = async (stream: "stdout" | "stderr", output: OutputStream | undefined): Promise<void> => {
    const decoder = new TextDecoder();
    if (output === undefined) return;
    for await (const { bytes } of output.chunks(signal)) {
      const text = decoder.decode(bytes, { stream: true });
      if (text !== "") onChunk({ stream, text });
    }
    const rest = decoder.decode();
    if (rest !== "") onChunk({ stream, text: rest });
  };
  await Promise.all([pump("stdout", command), pump("stderr", command.stderr)]);
}
