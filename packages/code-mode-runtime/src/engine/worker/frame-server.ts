import type { Socket } from "node:net";
import type { CellEnd } from "../cell-engine.ts";
import { commandKind, type Frame, FrameReader, reportKind, writeFrame } from "../frame.ts";
import type { RunningScript, ScriptAction, ScriptProgram, ScriptRuntime } from "./script-runtime.ts";

/** Unsent bytes from which on programs that produce more are held. */
const maxUnsentBytes = 1024 * 1024;
/** Longest frame taken; a string cannot be longer either. */
const maxFrameBytes = 2 ** 29;

/** Obeys the frames of one engine and reports what the programs do. */
export class FrameServer {
  readonly #socket: Socket;
  readonly #runtime: ScriptRuntime;
  readonly #scripts = new Map<number, RunningScript>();
  readonly #reader = new FrameReader(maxFrameBytes);
  #room: PromiseWithResolvers<void> | undefined;

  constructor(socket: Socket, runtime: ScriptRuntime) {
    this.#socket = socket;
    this.#runtime = runtime;
    socket.on("data", (chunk: Buffer) => {
      for (const frame of this.#reader.push(chunk)) this.#obey(frame);
    });
    socket.on("drain", () => {
      this.#room?.resolve();
      this.#room = undefined;
    });
  }

  /** Tells something that concerns the whole worker. */
  report(kind: number, ...fields: string[]): void {
    this.#write(0, kind, fields);
  }

  #obey({ cell, kind, fields }: Frame): void {
    const [first = "", second = ""] = fields;
    switch (kind) {
      case commandKind.start:
        this.#start(cell, fields);
        return;
      case commandKind.terminate:
        this.#scripts.get(cell)?.terminate();
        return;
      case commandKind.resolveTool:
        this.#scripts.get(cell)?.resolveTool(Number(first), second);
        return;
      case commandKind.rejectTool:
        this.#scripts.get(cell)?.rejectTool(Number(first), second);
        return;
      case commandKind.releaseSession:
        this.#runtime.releaseSession(first);
        return;
      case commandKind.relieve:
        this.#runtime.relieve();
        return;
      case commandKind.ping:
        this.report(reportKind.pong);
        return;
      default:
        throw new Error(`the engine sent a frame of the unknown kind ${kind}`);
    }
  }

  #start(cell: number, fields: readonly string[]): void {
    const script = this.#runtime.run(readProgram(fields), {
      ready: () => this.#write(cell, reportKind.ready, []),
      action: (action) => this.#report(cell, action),
      ended: (end) => {
        this.#scripts.delete(cell);
        this.#end(cell, end);
      },
      room: () => {
        if (this.#socket.writableLength < maxUnsentBytes) return undefined;
        this.#room ??= Promise.withResolvers();
        return this.#room.promise;
      },
    });
    this.#scripts.set(cell, script);
  }

  #report(cell: number, action: ScriptAction): void {
    switch (action.type) {
      case "text":
        return this.#write(cell, reportKind.text, [action.text]);
      case "image":
        return this.#write(cell, reportKind.image, [action.url, action.detail]);
      case "audio":
        return this.#write(cell, reportKind.audio, [action.url]);
      case "yield":
        return this.#write(cell, reportKind.yieldRequested, []);
      case "store":
        return this.#write(cell, reportKind.stored, [action.key, action.json]);
      case "notify":
        return this.#write(cell, reportKind.notified, [action.text]);
      case "tool": {
        const input = action.inputJson === undefined ? [] : [action.inputJson];
        const fields = [String(action.callNumber), String(action.toolIndex), ...input];
        return this.#write(cell, reportKind.toolCalled, fields);
      }
    }
  }

  #end(cell: number, end: CellEnd): void {
    switch (end.type) {
      case "completed":
        if (end.errorText === undefined) this.#write(cell, reportKind.completed, []);
        else this.#write(cell, reportKind.failed, [end.errorText]);
        return;
      case "terminated":
        this.#write(cell, reportKind.terminated, []);
        return;
      case "lost":
        this.#write(cell, reportKind.lost, [end.errorText]);
    }
  }

  #write(cell: number, kind: number, fields: readonly string[]): void {
    writeFrame(this.#socket, { cell, kind, fields });
  }
}

/** Fields of a start frame: session, source, heap limit in bytes, tools as JSON, then keys and values in turn. */
function readProgram(fields: readonly string[]): ScriptProgram {
  const [sessionKey = "", source = "", heapLimitBytes = "0", tools = "[]", ...pairs] = fields;
  const stored = new Map<string, string>();
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    stored.set(pairs[index] ?? "", pairs[index + 1] ?? "");
  }
  return { sessionKey, source, heapLimitBytes: Number(heapLimitBytes), tools: JSON.parse(tools), stored };
}
