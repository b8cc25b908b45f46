import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Peer, takePayloads } from "./peer.ts";

/** A running `trivium code-mode-host`. */
export interface HostProcess extends AsyncDisposable {
  readonly pid: number;
  /** The client on its standard input and output. */
  readonly peer: Peer;
  /** Standard output so far, as text. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the first line of standard output. */
  readonly firstLine: () => Promise<string>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** The exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>;
}

const server = fileURLToPath(new URL("../../../../apps/server", import.meta.url));
const program =
  process.env["TRIVIUM_TEST_BUILT"] === "1"
    ? [`${server}/dist/main.js`]
    : ["--conditions=@trivium/source", `${server}/src/main.ts`];

/** Starts the command with these parameters, in an environment without settings of ours. */
export function startHostProcess(
  parameters: readonly string[],
  env: Readonly<Record<string, string>> = {},
): HostProcess {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", ...program, "code-mode-host", ...parameters],
    {
      cwd: "/",
      stdio: ["pipe", "pipe", "pipe"],
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    },
  );
  const output: Buffer[] = [];
  const log: Buffer[] = [];
  let onOutput = (): void => {};
  child.stdout.on("data", (chunk: Buffer) => {
    output.push(chunk);
    onOutput();
  });
  child.stderr.on("data", (chunk: Buffer) => log.push(chunk));
  // A host that has closed its input is no failure of the test's.
  child.stdin.on("error", () => {});
  const exited = once(child, "close").then(([code]) => code as number | null);
  const stdout = (): string => Buffer.concat(output).toString();
  return {
    pid: child.pid ?? 0,
    peer: {
      send: (frames) => void child.stdin.write(Buffer.concat(frames)),
      close: () => void child.stdin.end(),
      onPayload(listener) {
        let rest: Buffer = Buffer.alloc(0);
        child.stdout.on("data", (chunk: Buffer) => {
          rest = takePayloads(Buffer.concat([rest, chunk]), listener);
        });
      },
      ended: exited.then((code) => code ?? -1),
    },
    stdout,
    stderr: () => Buffer.concat(log).toString(),
    async firstLine() {
      while (!stdout().includes("\n")) {
        await Promise.race([
          new Promise<void>((resolve) => {
            onOutput = resolve;
          }),
          exited.then((code) => {
            throw new Error(`the host ended with ${code}: ${Buffer.concat(log).toString()}`);
          }),
        ]);
      }
      return stdout().split("\n")[0] ?? "";
    },
    kill: (signal) => void child.kill(signal),
    exited,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
