import { sleep } from "@trivium/core";
import type { NotifiedDuration, ToolNotification } from "../notifications/tool-notification.ts";
import type { Command, CommandEnd } from "../process/command-runner.ts";
import type { ToolContext } from "../tool.ts";
import { type CutOutput, fromCharacterStart } from "./shell-text.ts";

/** The command that is told of, as its caller knows it. */
export interface NoticedCommand {
  /** As sent. */
  readonly command: string;
  /** Time limit, in milliseconds. */
  readonly timeoutMs: number;
}

/** What the host learns when a command goes on in the background. */
export interface BackgroundNotice {
  readonly taskId: string;
  readonly outputFile: string;
  readonly description: string | null;
  /** The task is a monitor. */
  readonly isMonitor?: boolean | undefined;
}

/** The end of a foreground command. */
export interface EndNotice {
  readonly end: CommandEnd;
  /** The contract's word for how it ended. */
  readonly signal: string | null;
  readonly cut: CutOutput;
  readonly totalBytes: number;
}

const INTERVAL_MS = 100;
/** Output in a chunk: the newest part. */
const MAX_CHUNK_BYTES = 20_000;

/**
 * Tells the session's host of one command: its output while it grows, and how it ended or went on.
 *
 * A tool makes one for each call and uses the methods that its contract knows.
 */
export class CommandNotices {
  readonly #command: NoticedCommand;
  readonly #context: ToolContext<unknown>;
  readonly #stop = new AbortController();

  constructor(command: NoticedCommand, context: ToolContext<unknown>) {
    this.#command = command;
    this.#context = context;
  }

  /** Tells of the output ten times a second while there is more, until the command has ended. Begins with none. */
  follow(running: Command): void {
    const stop = (): void => this.#stop.abort();
    void running.ended.then(stop, stop);
    this.#chunk(new Uint8Array(), 0, false);
    void this.#followOutput(running);
  }

  /** It has ended while its call waited: by itself, by its time-out or from outside. */
  ended({ end, signal, cut, totalBytes }: EndNotice): void {
    this.#stop.abort();
    const output = this.#output(cut.bytes, totalBytes, cut.isTruncated);
    const exitCode = end.reason === "exited" ? end.exitCode : null;
    this.#context.notify(
      signal === "timeout"
        ? {
            type: "BashExecutionTimeout",
            ...output,
            elapsed: toDuration(end.durationMs),
            timeout: toDuration(this.#command.timeoutMs),
          }
        : { type: "BashExecutionComplete", ...output, exit_code: exitCode, signal },
    );
  }

  /** It could not be started. */
  failed(error: string): void {
    this.#stop.abort();
    const { callId, workingDirectory } = this.#context;
    const { command } = this.#command;
    this.#context.notify({
      type: "BashExecutionFailed",
      tool_call_id: callId,
      command,
      cwd: workingDirectory,
      error,
    });
  }

  /** It runs, and nobody waits for it any more. */
  backgrounded({ taskId, outputFile, description, isMonitor = false }: BackgroundNotice): void {
    this.#context.notify({
      type: "BashExecutionBackgrounded",
      ...this.#output(new Uint8Array(), 0, false),
      output_file: outputFile,
      task_id: taskId,
      ...(description !== null && { description }),
      ...(isMonitor && { monitor_description: description ?? "" }),
    });
  }

  async #followOutput(running: Command): Promise<void> {
    const { clock, logger } = this.#context;
    const { signal } = this.#stop;
    let toldBytes = 0;
    try {
      while (!signal.aborted) {
        await sleep(clock, INTERVAL_MS, signal);
        const totalBytes = running.outputBytes;
        if (totalBytes === toldBytes) continue;
        const start = Math.max(0, totalBytes - MAX_CHUNK_BYTES);
        const bytes = await running.readLog(start, MAX_CHUNK_BYTES);
        if (signal.aborted) return;
        toldBytes = totalBytes;
        this.#chunk(start === 0 ? bytes : fromCharacterStart(bytes), totalBytes, start > 0);
      }
    } catch (error) {
      // The sleep is cut short when the command has ended.
      if (!signal.aborted) logger.debug({ error }, "cannot tell of the output of a running command");
    }
  }

  #chunk(bytes: Uint8Array, totalBytes: number, isTruncated: boolean): void {
    this.#context.notify({ type: "BashOutputChunk", ...this.#output(bytes, totalBytes, isTruncated) });
  }

  #output(bytes: Uint8Array, totalBytes: number, isTruncated: boolean): OutputKeys {
    const { callId, workingDirectory } = this.#context;
    return {
      tool_call_id: callId,
      command: this.#command.command,
      output: Buffer.from(bytes).toString("base64"),
      total_bytes: totalBytes,
      truncated: isTruncated,
      cwd: workingDirectory,
    };
  }
}

type OutputKeys = Omit<Extract<ToolNotification, { type: "BashOutputChunk" }>, "type">;

function toDuration(milliseconds: number): NotifiedDuration {
  const secs = Math.floor(milliseconds / 1000);
  return { secs, nanos: Math.round((milliseconds - secs * 1000) * 1_000_000) };
}
