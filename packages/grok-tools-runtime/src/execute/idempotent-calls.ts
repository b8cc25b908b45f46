import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { abortable, abortReason, type Clock, type Logger, TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { systemCodeOf } from "../file-error.ts";
import { isJsonObject, type JsonValue } from "../json.ts";
import { ToolError } from "../tool-error.ts";
import { fromAnswerRecord, toAnswerRecord } from "./answer-record.ts";
import type { ToolAnswer } from "./tool-answer.ts";

const KEPT_MS = 24 * 60 * 60 * 1000;
const SWEEP_INTERVAL_MS = 60 * 60 * 1000;

/** What a repeated call is recognised by, and how to carry out the first. */
export interface RepeatableCall {
  readonly key: string;
  /** Equal for equal contents. */
  readonly fingerprint: string;
  readonly callId: string;
  /** Cancels this caller's interest. */
  readonly signal: AbortSignal | undefined;
  /** Runs the tool; its signal aborts when the last interested caller is gone. */
  run(signal: AbortSignal): Promise<ToolAnswer>;
}

type Running = {
  readonly fingerprint: string;
  readonly answer: Promise<ToolAnswer>;
  readonly controller: AbortController;
  callers: number;
};

type Recorded = {
  readonly fingerprint: string;
  readonly callId: string;
  readonly answer: ToolAnswer | undefined;
};

/** Calls with an idempotency key: each runs once, and its answer is kept for 24 hours in the session's folder. */
export class IdempotentCalls {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #toolVersion: string;
  readonly #running = new Map<string, Promise<Running | ToolAnswer>>();
  #sweptAtMs = Number.NEGATIVE_INFINITY;

  constructor(sessionFolder: string, options: { clock: Clock; logger: Logger; toolVersion: string }) {
    this.#folder = join(sessionFolder, "calls");
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#toolVersion = options.toolVersion;
  }

  /**
   * The answer of the first call with this key.
   *
   * @throws {@link TriviumError} `invalidInput` when the key belongs to a call with other contents.
   */
  async answer(call: RepeatableCall): Promise<ToolAnswer> {
    const known = this.#running.get(call.key);
    const entry = known ?? this.#begin(call);
    if (known === undefined) this.#running.set(call.key, entry);
    const running = await entry.catch((cause: unknown) => {
      this.#running.delete(call.key);
      throw cause;
    });
    if ("metadata" in running) return running;
    if (running.fingerprint !== call.fingerprint) throw otherContents(call.key);
    return await this.#join(running, call.signal);
  }

  /** Removes records that are older than a day. Also done by itself, at most once an hour. */
  async sweep(): Promise<void> {
    this.#sweptAtMs = this.#clock.monotonic();
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names) {
      const path = join(this.#folder, name);
      const age = await stat(path).then(
        (found) => this.#clock.now() - found.mtimeMs,
        () => 0,
      );
      if (age > KEPT_MS) await rm(path, { force: true });
    }
  }

  async #join(running: Running, signal: AbortSignal | undefined): Promise<ToolAnswer> {
    if (signal === undefined) {
      running.callers++;
      return await running.answer;
    }
    running.callers++;
    try {
      return await abortable(running.answer, signal);
    } catch (thrown) {
      if (signal.aborted && --running.callers === 0) running.controller.abort(abortReason(signal));
      throw thrown;
    }
  }

  /** What the disk says about the key, else the start of the tool. */
  async #begin(call: RepeatableCall): Promise<Running | ToolAnswer> {
    const recorded = await this.#read(call.key);
    if (recorded !== undefined) {
      this.#running.delete(call.key);
      if (recorded.fingerprint !== call.fingerprint) throw otherContents(call.key);
      return recorded.answer ?? this.#lostAnswer(recorded.callId);
    }
    await this.#write(call, undefined);
    if (this.#clock.monotonic() - this.#sweptAtMs > SWEEP_INTERVAL_MS) await this.sweep();
    const controller = new AbortController();
    const answer = this.#run(call, controller.signal);
    // Every caller may have left by then; the record tells what happened.
    answer.catch(() => {});
    return { fingerprint: call.fingerprint, answer, controller, callers: 0 };
  }

  async #run(call: RepeatableCall, signal: AbortSignal): Promise<ToolAnswer> {
    try {
      const answer = await call.run(signal);
      await this.#write(call, answer);
      return answer;
    } catch (thrown) {
      if (signal.aborted) {
        const cancelled = this.#cancelledAnswer(call.callId, "cancelled");
        await this.#write(call, cancelled);
        return cancelled;
      }
      await rm(this.#path(call.key), { force: true });
      throw thrown;
    } finally {
      this.#running.delete(call.key);
    }
  }

  #lostAnswer(callId: string): ToolAnswer {
    return this.#cancelledAnswer(callId, "server_restarted");
  }

  #cancelledAnswer(callId: string, reason: "cancelled" | "server_restarted"): ToolAnswer {
    const message =
      reason === "cancelled"
        ? "the call was cancelled by its caller"
        : "the server ended while the call ran; whether it took effect is not known";
    const error = new ToolError(ErrorCode.CANCELLED, message, { details: { reason } });
    return {
      callId,
      result: { ok: false, error },
      metadata: {
        durationMs: 0,
        estimatedTokens: 0,
        isTruncated: false,
        toolVersion: this.#toolVersion,
        contractVersion: "",
      },
    };
  }

  #path(key: string): string {
    return join(this.#folder, `${createHash("sha256").update(key).digest("hex")}.json`);
  }

  async #read(key: string): Promise<Recorded | undefined> {
    const path = this.#path(key);
    try {
      const found = await stat(path);
      if (this.#clock.now() - found.mtimeMs > KEPT_MS) return undefined;
      const record: unknown = JSON.parse(await readFile(path, "utf8"));
      if (!isJsonObject(record)) throw new TypeError("the record is not an object");
      const { fingerprint, callId, answer } = record;
      return {
        fingerprint: textOf(fingerprint),
        callId: textOf(callId),
        answer: answer === undefined ? undefined : fromAnswerRecord(answer),
      };
    } catch (cause) {
      if (systemCodeOf(cause) === "ENOENT") return undefined;
      throw new TriviumError(
        "dataLoss",
        "the record of the first call with this idempotency-key is damaged",
        {
          cause,
        },
      );
    }
  }

  async #write({ key, fingerprint, callId }: RepeatableCall, answer: ToolAnswer | undefined): Promise<void> {
    const path = this.#path(key);
    const record = { fingerprint, callId, ...(answer !== undefined && { answer: toAnswerRecord(answer) }) };
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await writeFile(`${path}.tmp`, JSON.stringify(record), { mode: 0o600 });
      await rename(`${path}.tmp`, path);
    } catch (cause) {
      if (answer === undefined) {
        throw new TriviumError("unavailable", "a call with an idempotency-key cannot be recorded", { cause });
      }
      // The tool has run: its answer must reach the caller even when a repetition could not get it.
      this.#logger.error({ path, cause }, "the answer of a call cannot be recorded");
    }
  }
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  throw new TypeError("the record has no text where one belongs");
}

function otherContents(key: string): TriviumError {
  return new TriviumError(
    "invalidInput",
    `idempotency-key ${key} belongs to a call with another tool, input or options`,
  );
}
