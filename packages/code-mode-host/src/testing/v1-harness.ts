import { PassThrough } from "node:stream";
import { type CodeModeLimits, type CodeModeRuntime, createCodeModeRuntime } from "@trivium/code-mode-runtime";
import { type ScriptedCell, ScriptedEngine } from "@trivium/code-mode-runtime/testing";
import { silentLogger } from "@trivium/core";
import { ManualClock, sequentialIds } from "@trivium/core/testing";
import { encodeFrame, readFrames } from "../v1/frame.ts";
import { createV1Host, type V1Host } from "../v1/v1-host.ts";

/** A message of the host. */
// Tests look into messages of every shape; what they expect says which it is.
// oxlint-disable-next-line typescript/no-explicit-any
export type HostMessage = any;

/** A V1 host over a scripted engine. */
export interface V1Harness {
  readonly clock: ManualClock;
  readonly engine: ScriptedEngine;
  readonly runtime: CodeModeRuntime;
  readonly host: V1Host;
}

/** One connection over pipes, after its hello. */
export interface V1Client {
  /** Everything the host has said, the answer to the hello left out. */
  readonly messages: HostMessage[];
  readonly input: PassThrough;
  readonly output: PassThrough;
  /** Sends one message; ids are the caller's. */
  readonly send: (message: object) => void;
  /** Sends an operation. */
  readonly request: (id: number, request: object) => void;
  /** Sends an execute in the session `s1` and makes its cell ready. */
  readonly start: (id: number, body?: object) => Promise<ScriptedCell>;
  /** Resolves when the host has said so much. */
  readonly until: (count: number) => Promise<HostMessage[]>;
  /** How the connection ended: undefined for a clean end, else the error. */
  readonly ended: Promise<unknown>;
  /** Stops the connection from the side of the host. */
  readonly stop: () => void;
}

export function createV1Harness(
  options: { limits?: Partial<CodeModeLimits>; maxRequests?: number } = {},
): V1Harness {
  const clock = new ManualClock();
  const engine = new ScriptedEngine();
  const ids = sequentialIds();
  const { limits, ...hostOptions } = options;
  const common = { clock, ids, logger: silentLogger };
  const runtime = createCodeModeRuntime({ engine, ...common, ...(limits !== undefined && { limits }) });
  return { clock, engine, runtime, host: createV1Host({ runtime, ...common, ...hostOptions }) };
}

/** Connects and opens the session `s1`, with the request id 0. */
export async function openV1Client(
  { host, engine }: V1Harness,
  options: { capabilities?: readonly string[]; open?: object } = {},
): Promise<V1Client> {
  const input = new PassThrough();
  const output = new PassThrough();
  const controller = new AbortController();
  const ended = host.serveStdio({ input, output }, controller.signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  const messages: HostMessage[] = [];
  let wake = (): void => {};
  void (async () => {
    for await (const payload of readFrames(output)) {
      messages.push(JSON.parse(payload.toString()));
      wake();
    }
  })().catch(() => {});
  const send = (message: object): void => void input.write(encodeFrame(JSON.stringify(message)));
  const request = (id: number, body: object): void => send({ type: "operation/request", id, request: body });
  const until = async (count: number): Promise<HostMessage[]> => {
    while (messages.length < count) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return messages;
  };
  send({
    type: "connection/hello",
    supportedVersions: [1],
    requiredCapabilities: [],
    optionalCapabilities: options.capabilities ?? [],
  });
  request(0, { method: "session/open", sessionId: "s1", ...options.open });
  await until(2);
  messages.splice(0);
  const start = async (id: number, body: object = {}): Promise<ScriptedCell> => {
    const known = engine.cells.length;
    request(id, {
      method: "session/execute",
      sessionId: "s1",
      request: { tool_call_id: "call", enabled_tools: [], source: "", ...body },
    });
    while (engine.cells.length === known) await settle();
    engine.last.listener.ready();
    return engine.last;
  };
  return { messages, input, output, send, request, start, until, ended, stop: () => controller.abort() };
}

/** A tool definition in the form of the protocol. */
export function v1Tool(name: string): object {
  return { name, tool_name: { name }, description: "", kind: "function" };
}

/** Lets everything run that is ready to. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
