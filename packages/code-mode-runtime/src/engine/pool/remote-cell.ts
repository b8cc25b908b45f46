import type { CellEnd, CellListener, CellProgram, RunningCell } from "../cell-engine.ts";
import { commandKind, type Frame, reportKind } from "../frame.ts";
import { normaliseToolName } from "../tool-name.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** A cell that runs in a worker, seen from the server. */
export class RemoteCell implements RunningCell {
  readonly number: number;
  readonly heapLimitBytes: number;
  readonly #program: CellProgram;
  readonly #listener: CellListener;
  readonly #onEnd: () => void;
  #worker: WorkerProcess | undefined;
  #isTerminating = false;

  constructor(
    identity: { readonly number: number; readonly heapLimitBytes: number; readonly onEnd: () => void },
    program: CellProgram,
    listener: CellListener,
  ) {
    this.number = identity.number;
    this.heapLimitBytes = identity.heapLimitBytes;
    this.#onEnd = identity.onEnd;
    this.#program = program;
    this.#listener = listener;
  }

  /** Must be called once, at the start. */
  runIn(worker: WorkerProcess): void {
    this.#worker = worker;
    worker.start(this);
  }

  /** Session, source, heap limit in bytes, tools as JSON, then keys and values of stored values in turn. */
  startFields(): readonly string[] {
    const { sessionKey, source, stored, tools } = this.#program;
    const named = tools.map(({ name, description }) => ({ name: normaliseToolName(name), description }));
    const fields = [sessionKey, source, String(this.heapLimitBytes), JSON.stringify(named)];
    for (const [key, json] of stored) fields.push(key, json);
    return fields;
  }

  resolveTool(toolCallId: string, outputJson: string | Uint8Array): void {
    const number = callNumber(toolCallId);
    const isText = typeof outputJson === "string";
    this.#worker?.send({
      cell: this.number,
      kind: commandKind.resolveTool,
      fields: isText ? [number, outputJson] : [number],
      lastField: isText ? undefined : outputJson,
    });
  }

  rejectTool(toolCallId: string, message: string): void {
    const fields = [callNumber(toolCallId), message];
    this.#worker?.send({ cell: this.number, kind: commandKind.rejectTool, fields });
  }

  terminate(): void {
    if (this.#isTerminating) return;
    this.#isTerminating = true;
    this.#worker?.terminate(this);
  }

  /** Tells the listener what the program did. */
  take({ kind, fields }: Frame): void {
    const [first = "", second = "", third] = fields;
    const listener = this.#listener;
    switch (kind) {
      case reportKind.ready:
        return listener.ready();
      case reportKind.text:
        return listener.output({ type: "text", text: first });
      case reportKind.image:
        return listener.output({ type: "image", url: first, detail: toDetail(second) });
      case reportKind.audio:
        return listener.output({ type: "audio", url: first });
      case reportKind.yieldRequested:
        return listener.yieldRequested();
      case reportKind.stored:
        return listener.stored(first, second);
      case reportKind.notified:
        return listener.notified(first);
      case reportKind.toolCalled: {
        const tool = this.#program.tools[Number(second)];
        if (tool === undefined)
          throw new RangeError(`the worker called tool ${second}, which the cell has not`);
        return listener.toolCalled({ toolCallId: `tool-${first}`, tool, inputJson: third });
      }
      default:
        throw new RangeError(`the worker sent a frame of the unknown kind ${kind}`);
    }
  }

  /** Its worker is gone. */
  loseWorker(errorText: string): void {
    this.end(this.#isTerminating ? { type: "terminated" } : { type: "lost", errorText });
  }

  /** Must be called once. */
  end(end: CellEnd): void {
    this.#worker = undefined;
    this.#onEnd();
    this.#listener.ended(end);
  }
}

function callNumber(toolCallId: string): string {
  return toolCallId.slice("tool-".length);
}

function toDetail(text: string): "auto" | "low" | "high" | "original" | undefined {
  return text === "auto" || text === "low" || text === "high" || text === "original" ? text : undefined;
}
