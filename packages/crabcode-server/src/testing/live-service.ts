import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type CallOptions,
  type Client,
  Code,
  ConnectError,
  createClient,
  createRouterTransport,
} from "@connectrpc/connect";
import { MemoryEventLogStore } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { type CrabcodeRuntime, createCrabcodeRuntime, createModelCatalogue } from "@trivium/crabcode-runtime";
import { type CoreEventProto, CrabCodeService } from "@trivium/proto/crabcode";
import { ErrorInfoSchema } from "@trivium/proto/error-details";
import { crabcodeService } from "../crabcode-service.ts";
import { quietToolbox } from "./quiet-toolbox.ts";

/** The payload of an event, for looking into it. */
export type Payload = Readonly<Record<string, unknown>> & { readonly type: string };

/** A real runtime behind the service, its model playing a script. */
export interface LiveService extends AsyncDisposable {
  readonly client: Client<typeof CrabCodeService>;
  readonly runtime: CrabcodeRuntime;
  /** Folder of the default session. */
  readonly cwd: string;
  /** Lets the held entries of that name go. */
  release(hold: string): Promise<void>;
}

/** Starts one. Without a script the offline model answers. */
export async function liveService(
  script?: readonly object[],
  commands?: Parameters<typeof quietToolbox>[0],
): Promise<LiveService> {
  const folder = await temporaryFolder();
  const cwd = join(folder.path, "work");
  await mkdir(join(cwd, "other"), { recursive: true });
  const scriptPath = join(folder.path, "script.json");
  if (script !== undefined) await writeFile(scriptPath, JSON.stringify(script));
  const models = {
    keyless: { provider: "anthropic", model: "m" },
    ...(script !== undefined && { script: { provider: "script", model: "m", script_path: scriptPath } }),
  };
  const runtime = createCrabcodeRuntime({
    eventLogs: new MemoryEventLogStore(),
    models: createModelCatalogue({ variables: {}, isTesting: true }),
    openToolbox: quietToolbox(commands),
    workspaceRoots: [cwd],
    settings: { base: { models, ...(script !== undefined && { default_model: "script" }) } },
    version: "1.2.3",
  });
  const client = createClient(
    CrabCodeService,
    createRouterTransport(crabcodeService({ runtime, version: "1.2.3" })),
  );
  return {
    client,
    runtime,
    cwd,
    release: (hold) => writeFile(join(folder.path, `${hold}.go`), ""),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A stream that is read in the background, its headers and its end. */
export class StreamReader {
  readonly events: Payload[] = [];
  header: Headers = new Headers();
  /** The status the stream ended with; undefined for OK. */
  readonly ended: Promise<ConnectError | undefined>;
  readonly #abort = new AbortController();
  #waiters: (() => void)[] = [];

  /** @param open makes the call with the options it is given */
  constructor(
    open: (options: CallOptions) => AsyncIterable<CoreEventProto>,
    headers: Readonly<Record<string, string>> = {},
  ) {
    const options = {
      headers,
      signal: this.#abort.signal,
      onHeader: (header: Headers) => {
        this.header = header;
      },
    };
    this.ended = this.#read(open(options));
  }

  /** The first event that has these values; waits for it. */
  async find(match: Readonly<Record<string, unknown>>): Promise<Payload> {
    for (;;) {
      const found = this.events.find((event) =>
        Object.entries(match).every(([key, value]) => event[key] === value),
      );
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  cancel(): void {
    this.#abort.abort();
  }

  async #read(stream: AsyncIterable<CoreEventProto>): Promise<ConnectError | undefined> {
    try {
      for await (const { payloadJson } of stream) {
        this.events.push(JSON.parse(payloadJson));
        for (const wake of this.#waiters.splice(0)) wake();
      }
      return undefined;
    } catch (error) {
      return ConnectError.from(error);
    }
  }
}

/** Name of the status a call failed with, and its reason. */
export async function statusOf(
  call: Promise<unknown>,
): Promise<{ code: string; reason: string | undefined }> {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error),
  );
  if (thrown === undefined) return { code: "OK", reason: undefined };
  return { code: Code[thrown.code], reason: thrown.findDetails(ErrorInfoSchema)[0]?.reason };
}
