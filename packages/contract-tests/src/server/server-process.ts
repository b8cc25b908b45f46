import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@trivium/core/testing";

/** A running `trivium serve`: the built command when TRIVIUM_TEST_BUILT is 1 (as `npm test` sets it), else the sources. */
export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  readonly workspace: string;
  readonly dataDir: string;
  /** What it wrote to standard error so far. */
  log(): string;
  /** Ends it the hard way and waits until it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** What a test may want otherwise. */
export interface ServerProcessOptions {
  readonly workspace?: string;
  readonly dataDir?: string;
  /** Further parameters of the command. */
  readonly parameters?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const server = fileURLToPath(new URL("../../../../apps/server", import.meta.url));
/** What Node runs: the built command, or its sources. */
export const serverProgram: readonly string[] =
  process.env["TRIVIUM_TEST_BUILT"] === "1"
    ? [`${server}/dist/main.js`]
    : ["--conditions=@trivium/source", `${server}/src/main.ts`];

/** Starts a server of its own: free port, fresh workspace and data folder unless given. */
export async function startServerProcess(options: ServerProcessOptions = {}): Promise<ServerProcess> {
  const folder = await temporaryFolder();
  const workspace = options.workspace ?? folder.path;
  const dataDir = options.dataDir ?? `${folder.path}-data`;
  const child = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      ...serverProgram,
      "serve",
      "--listen",
      "127.0.0.1:0",
      "--workspace",
      workspace,
      "--data-dir",
      dataDir,
      ...(options.parameters ?? []),
    ],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...options.env },
    },
  );
  const log: Buffer[] = [];
  child.stderr.on("data", (chunk: Buffer) => log.push(chunk));
  const text = (): string => Buffer.concat(log).toString();
  try {
    const url = await announcedUrl(child, text);
    return {
      url,
      pid: child.pid ?? 0,
      workspace,
      dataDir,
      log: text,
      kill: () => end(child, "SIGKILL").then(() => undefined),
      stop: () => end(child, "SIGTERM"),
      async [Symbol.asyncDispose]() {
        await end(child, "SIGTERM");
        await folder[Symbol.asyncDispose]();
        if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
      },
    };
  } catch (thrown) {
    child.kill("SIGKILL");
    throw thrown;
  }
}

async function announcedUrl(child: ChildProcess, log: () => string): Promise<string> {
  const ended = once(child, "exit").then(() => {
    throw new Error(`the server ended before it listened: ${log()}`);
  });
  const listening = (async () => {
    if (child.stdout === null) throw new Error("the server has no standard output");
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /https?:\/\/[^\s]+/.exec(line)?.[0];
      if (url !== undefined) return url;
    }
    return ended;
  })();
  const url = await Promise.race([listening, ended]);
  child.stdout?.resume();
  return url;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }
  return child.exitCode;
}
